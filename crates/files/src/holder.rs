//! Who holds a folder: the machine, its boot, and the process.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use crate::clock::now;
use crate::observer;

/// Who holds a lock, as far as its file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The machine's name.
    pub host: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// When the lock was taken (RFC 3339, UTC).
    pub since: Option<String>,
    /// The machine and its boot, and the name space of its process numbers.
    pub(crate) machine: Option<String>,
    pub(crate) boot: Option<String>,
    pub(crate) space: Option<String>,
    /// When the process was started, in the system's ticks.
    pub(crate) started: Option<String>,
    /// A number that no other holder has.
    pub(crate) nonce: Option<String>,
}

/// What is known of a holder without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    /// On another machine: only the renewal of its file tells.
    Elsewhere,
}

impl Holder {
    /// This process, with a nonce of its own.
    pub(crate) fn me() -> Self {
        let word = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().into());
        let pid = std::process::id();
        let played = observer::node();
        let host = played.clone().or_else(|| word("/proc/sys/kernel/hostname"));
        Self {
            host: host.or_else(|| std::env::var("HOSTNAME").ok()),
            pid: Some(pid),
            since: Some(now()),
            machine: played.clone().or_else(|| word("/etc/machine-id")),
            boot: played.or_else(|| word("/proc/sys/kernel/random/boot_id")),
            space: fs::read_link("/proc/self/ns/pid")
                .ok()
                .map(|link| link.to_string_lossy().into()),
            started: started(pid),
            nonce: Some(format!(
                "{:016x}",
                RandomState::new().build_hasher().finish()
            )),
        }
    }

    /// The text of a lock file that was renewed so many times; as long for every number.
    pub(crate) fn text(&self, renewed: u64) -> String {
        let pid = self.pid.map(|pid| pid.to_string());
        let fields = [
            ("host", &self.host),
            ("pid", &pid),
            ("since", &self.since),
            ("machine", &self.machine),
            ("boot", &self.boot),
            ("space", &self.space),
            ("started", &self.started),
            ("nonce", &self.nonce),
        ];
        let known = fields.iter().filter_map(|(name, value)| {
            let value = value.as_ref()?.replace(['\n', '\r'], " ");
            Some(format!("{name} {value}\n"))
        });
        format!("{}renewed {renewed:020}\n", known.collect::<String>())
    }

    /// The inverse of [`text`](Self::text); what cannot be read stays unknown.
    pub(crate) fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let found = text.lines().filter_map(|line| line.split_once(' '));
            found
                .filter(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
                .next()
        };
        Self {
            host: field("host"),
            pid: field("pid").and_then(|pid| pid.parse().ok()),
            since: field("since"),
            machine: field("machine"),
            boot: field("boot"),
            space: field("space"),
            started: field("started"),
            nonce: field("nonce"),
        }
    }

    /// The line that older programs read of a lock file.
    pub(crate) fn json(&self) -> String {
        format!(
            "{{\"pid\":{},\"since\":\"{}\"}}\n",
            self.pid.unwrap_or_default(),
            self.since.as_deref().unwrap_or_default()
        )
    }

    /// The inverse of [`json`](Self::json).
    pub(crate) fn parse_json(text: &str) -> Self {
        let value = |key: &str| {
            let at = text.find(&format!("\"{key}\":"))? + key.len() + 3;
            let value = text[at..].trim_start();
            let end = value.find([',', '}'])?;
            Some(value[..end].trim().trim_matches('"').to_owned())
        };
        let since = value("since").filter(|since| since != "null" && !since.is_empty());
        Self {
            pid: value("pid").and_then(|pid| pid.parse().ok()),
            since,
            ..Self::default()
        }
    }

    /// Whether this holder lives, as `me` sees it. Where `flock` was granted to `me`, nobody of this boot has it.
    pub(crate) fn life(&self, me: &Self, flocked: bool) -> Life {
        let same = |of: fn(&Self) -> &Option<String>| of(self).is_some() && of(self) == of(me);
        if same(|h| &h.boot) {
            if flocked {
                return Life::Dead;
            }
            return match self.pid {
                Some(pid) if same(|h| &h.space) && Path::new("/proc/self").exists() => {
                    match started(pid) {
                        Some(now) if Some(&now) == self.started.as_ref() => Life::Alive,
                        _ => Life::Dead,
                    }
                }
                _ => Life::Elsewhere,
            };
        }
        // The same machine, booted again since.
        if same(|h| &h.machine) && same(|h| &h.host) && self.boot.is_some() {
            return Life::Dead;
        }
        Life::Elsewhere
    }
}

/// When a process was started, in the system's ticks; `None` where there is none, or the system does not say.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_comes_back_from_its_text_and_garbage_is_unknown() {
        let me = Holder::me();
        assert_eq!(Holder::parse(&me.text(7)), me);
        assert_eq!(me.text(0).len(), me.text(u64::MAX).len());
        assert_eq!(Holder::parse("\u{0}{garbage"), Holder::default());
        let short = Holder::parse_json(&me.json());
        assert_eq!((short.pid, short.since), (me.pid, me.since));
        assert_eq!(Holder::parse_json("\u{fffd}{"), Holder::default());
        let older = Holder::parse_json("{\"pid\":12,\"since\":null}");
        assert_eq!((older.pid, older.since), (Some(12), None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_was_started_at_a_time_of_its_own() {
        let own = started(std::process::id()).unwrap();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        assert!(own.parse::<u64>().unwrap() > 0 && stat.contains(&format!(" {own} ")));
        assert_ne!(
            started(1).as_ref(),
            Some(&own),
            "the first process is older"
        );
        assert_eq!(started(u32::MAX), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_is_alive_is_told_by_boot_process_and_machine() {
        let me = Holder::me();
        assert_eq!(me.life(&me, true), Life::Dead, "flock was granted to me");
        assert_eq!(me.life(&me, false), Life::Alive);
        let gone = Holder {
            started: Some("1".into()),
            ..me.clone()
        };
        assert_eq!(
            gone.life(&me, false),
            Life::Dead,
            "another process has its number"
        );
        let booted = Holder {
            boot: Some("before".into()),
            ..me.clone()
        };
        assert_eq!(booted.life(&me, true), Life::Dead);
        let other = Holder {
            host: Some("node-2".into()),
            ..booted
        };
        assert_eq!(other.life(&me, true), Life::Elsewhere);
        assert_eq!(Holder::default().life(&me, true), Life::Elsewhere);
        // Its number is of another name space, where it is another process.
        let contained = Holder {
            space: Some("another".into()),
            ..me.clone()
        };
        assert_eq!(contained.life(&me, false), Life::Elsewhere);
    }
}

//! Options of a cluster: from a command line that names the cluster by `--on`, and from a file of defaults.

use super::{io, rejected};
use crate::error::HarnessError;
use clap::Args;
use clap::builder::TypedValueParser;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::Path;

/// The file of defaults, looked for in the working folder.
pub const DEFAULTS: &str = "helmholtz-cluster.toml";

/// Default number of times that a task whose node failed is started again.
const RETRIES: u32 = 3;

/// Options of a cluster. An option that is not set is the cluster's default, or comes from the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ClusterOptions {
    /// Partition
    #[arg(long, value_name = "NAME", requires = "on")]
    pub partition: Option<String>,

    /// Account to charge
    #[arg(long, value_name = "NAME", requires = "on")]
    pub account: Option<String>,

    /// Quality of service
    #[arg(long, value_name = "NAME", requires = "on")]
    pub qos: Option<String>,

    /// Time limit of a job, as 90 (minutes), 4:00:00 or 2-0; a run that takes longer goes on in its next job
    #[arg(long, value_name = "TIME", requires = "on")]
    pub time: Option<String>,

    /// Memory of a job [default: from the plan]
    #[arg(long, value_name = "SIZE", requires = "on")]
    pub mem: Option<String>,

    /// CPUs of a job: so many of its runs are at work at once [default: 1]
    #[arg(long, value_name = "N", requires = "on", value_parser = numbers(1..=1 << 20))]
    pub cpus: Option<usize>,

    /// GPUs of a job [default: 1 with `--device cuda`]
    #[arg(long, value_name = "N", requires = "on")]
    pub gpus: Option<usize>,

    /// Jobs at once, at most
    #[arg(long, value_name = "N", requires = "on", value_parser = numbers(1..=1 << 20))]
    pub max: Option<usize>,

    /// Runs of a job [default: 1, more where the array would be larger than the cluster allows]
    #[arg(long, value_name = "N", requires = "on", value_parser = numbers(1..=1 << 20))]
    pub per_task: Option<usize>,

    /// Number of times that a job is started again after a fault of its node [default: 3]
    #[arg(long, value_name = "N", requires = "on")]
    pub retries: Option<u32>,

    /// Any other option of sbatch; may be given several times
    #[arg(
        long,
        value_name = "OPTIONS",
        requires = "on",
        allow_hyphen_values = true
    )]
    pub sbatch: Vec<String>,
}

/// Whole numbers within a range, on a command line.
pub fn numbers(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(range).map(|n| n as usize)
}

impl ClusterOptions {
    /// The defaults in `folder`, if there is a file.
    ///
    /// # Errors
    /// A file that cannot be read, is not well-formed, or holds an unknown key.
    pub fn defaults(folder: &Path) -> Result<Self, HarnessError> {
        let path = folder.join(DEFAULTS);
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| {
                rejected(
                    format!("{} is not a valid file of defaults: {error}", path.display()),
                    "its keys are those of the options, such as `partition = \"short\"` and `per-task = 4`",
                )
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(io("read", &path)(error)),
        }
    }

    /// These, and `defaults` where nothing is set.
    pub fn or(self, defaults: Self) -> Self {
        Self {
            partition: self.partition.or(defaults.partition),
            account: self.account.or(defaults.account),
            qos: self.qos.or(defaults.qos),
            time: self.time.or(defaults.time),
            mem: self.mem.or(defaults.mem),
            cpus: self.cpus.or(defaults.cpus),
            gpus: self.gpus.or(defaults.gpus),
            max: self.max.or(defaults.max),
            per_task: self.per_task.or(defaults.per_task),
            retries: self.retries.or(defaults.retries),
            sbatch: defaults.sbatch.into_iter().chain(self.sbatch).collect(),
        }
    }

    /// Where a job runs, and at whose charge.
    pub fn place(&self) -> [(&'static str, &Option<String>); 3] {
        [
            ("partition", &self.partition),
            ("account", &self.account),
            ("qos", &self.qos),
        ]
    }

    /// CPUs of a task.
    pub fn cpus(&self) -> usize {
        self.cpus.unwrap_or(1).max(1)
    }

    /// Number of times that a task is started again after a fault of its node.
    pub fn retries(&self) -> u32 {
        self.retries.unwrap_or(RETRIES)
    }

    /// The time limit in seconds; none where the partition's own holds.
    ///
    /// # Errors
    /// A time that Slurm would not take.
    pub fn seconds(&self) -> Result<Option<u64>, HarnessError> {
        let Some(text) = &self.time else {
            return Ok(None);
        };
        match parse_time(text) {
            Some(seconds) if seconds > 0 => Ok(Some(seconds)),
            _ => Err(rejected(
                format!("`--time {text}` is no time limit"),
                "write minutes, hours:minutes:seconds or days-hours, such as 90, 4:00:00 or 2-0",
            )),
        }
    }

    /// Checks that every option is one line: it becomes a line of the job script.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), HarnessError> {
        let words = self.place().into_iter().chain([("mem", &self.mem)]);
        let given = words.filter_map(|(name, text)| Some((name, text.as_deref()?)));
        let extra = self.sbatch.iter().map(|text| ("sbatch", text.as_str()));
        for (name, text) in given.chain(extra) {
            let is_word = name == "sbatch" || !text.contains(char::is_whitespace);
            if text.is_empty() || text.contains(['\n', '\r']) || !is_word {
                return Err(rejected(
                    format!("`--{name} {text:?}` is no option of a job"),
                    "give one word, or one line to `--sbatch`",
                ));
            }
        }
        self.seconds().map(|_| ())
    }
}

/// Seconds of a time as Slurm writes it; none for one without a limit, and for what is no time.
pub fn parse_time(text: &str) -> Option<u64> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|n| *n < 1 << 40);
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    Some(match (days, parts.as_slice()) {
        (Some(days), [hours]) => days * 86_400 + hours * 3600,
        (Some(days), [hours, minutes]) => days * 86_400 + hours * 3600 + minutes * 60,
        (Some(days), [hours, minutes, seconds]) => {
            days * 86_400 + hours * 3600 + minutes * 60 + seconds
        }
        (None, [minutes]) => minutes * 60,
        (None, [minutes, seconds]) => minutes * 60 + seconds,
        (None, [hours, minutes, seconds]) => hours * 3600 + minutes * 60 + seconds,
        _ => return None,
    })
}

/// Seconds as Slurm writes them: `4:00:00`, `2-01:00:00`.
pub fn format_time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!(
        "{:02}:{:02}:{:02}",
        rest / 3600,
        rest % 3600 / 60,
        rest % 60
    );
    match days {
        0 => clock,
        _ => format!("{days}-{clock}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::assert_contains;

    #[test]
    fn times_are_read_as_slurm_reads_them() {
        for (text, seconds) in [
            ("90", Some(5400)),
            ("2:30", Some(150)),
            ("4:00:00", Some(14_400)),
            ("4:05:06", Some(14_706)),
            ("2-0", Some(172_800)),
            ("2-3", Some(183_600)),
            ("1-2:30:05", Some(95_405)),
            ("1099511627775", Some(1_099_511_627_775 * 60)),
            ("1099511627776", None),
            ("1-2:30", Some(95_400)),
            ("1-00:00:05", Some(86_405)),
            ("infinite", None),
            ("4h", None),
            ("", None),
            ("1:2:3:4", None),
        ] {
            assert_eq!(parse_time(text), seconds, "{text}");
        }
        for seconds in [5, 14_400, 95_400] {
            assert_eq!(parse_time(&format_time(seconds)), Some(seconds));
        }
    }

    #[test]
    fn what_is_not_given_is_one_processor_and_the_usual_number_of_starts() {
        let of = |cpus, retries| ClusterOptions {
            cpus,
            retries,
            ..ClusterOptions::default()
        };
        assert_eq!(
            (of(None, None).cpus(), of(None, None).retries()),
            (1, RETRIES)
        );
        let given = [(0, 0, 1), (1, 1, 1), (3, 7, 3)];
        for (cpus, retries, used) in given {
            let options = of(Some(cpus), Some(retries));
            assert_eq!((options.cpus(), options.retries()), (used, retries));
        }
    }

    #[test]
    fn a_time_limit_is_a_time_and_not_nothing() {
        let of = |time: Option<&str>| {
            let time = time.map(String::from);
            ClusterOptions {
                time,
                ..ClusterOptions::default()
            }
            .seconds()
        };
        assert_eq!(of(None).unwrap(), None);
        assert_eq!(of(Some("90")).unwrap(), Some(5400));
        for none in ["0", "0-0", "soon"] {
            assert_contains(of(Some(none)).unwrap_err(), &[none, "is no time limit"]);
        }
    }

    #[test]
    fn defaults_that_cannot_be_read_are_an_error_and_none_at_all_are_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(DEFAULTS)).unwrap();
        let read = ClusterOptions::defaults(dir.path());
        assert!(matches!(read, Err(HarnessError::Io { .. })), "{read:?}");
    }

    #[test]
    fn the_command_line_goes_before_the_file_and_both_extend_sbatch() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            ClusterOptions::defaults(dir.path()).unwrap(),
            ClusterOptions::default()
        );
        let text = "partition = \"short\"\nper-task = 4\nsbatch = [\"--exclusive\"]\n";
        std::fs::write(dir.path().join(DEFAULTS), text).unwrap();
        let own = ClusterOptions {
            partition: Some("long".into()),
            sbatch: vec!["--constraint=avx512".into()],
            ..ClusterOptions::default()
        };
        let both = own.or(ClusterOptions::defaults(dir.path()).unwrap());
        assert_eq!(
            (both.partition.as_deref(), both.per_task),
            (Some("long"), Some(4))
        );
        assert_eq!(both.sbatch, ["--exclusive", "--constraint=avx512"]);
        std::fs::write(dir.path().join(DEFAULTS), "partitoin = \"short\"\n").unwrap();
        assert_contains(
            ClusterOptions::defaults(dir.path()).unwrap_err(),
            &["partitoin", "per-task"],
        );
    }

    #[test]
    fn what_would_become_several_lines_of_the_script_is_refused() {
        let of = |partition: &str, sbatch: &str| {
            ClusterOptions {
                partition: Some(partition.into()),
                sbatch: vec![sbatch.into()],
                ..ClusterOptions::default()
            }
            .check()
        };
        assert!(of("short", "--constraint=\"a b\" --exclusive").is_ok());
        assert!(of("short\nrm -r x", "-x").is_err());
        assert!(of("short", "-x\nrm -r x").is_err());
        assert!(of("short --wrap=x", "-x").is_err());
    }
}

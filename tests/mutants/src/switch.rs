//! A file with its sites made switches: `match at(first, count) { 0 => as it was, 1 => the first mutant, … }`.

use std::ops::Range;

use crate::mutant::Mutant;
use crate::site::{Kind, Site};

/// The hidden module that says which mutant is active. `TRACE` names a file for the numbers of the sites that are reached.
pub const MODULE: &str = r#"//! Which mutant is active.
#![allow(missing_docs)]

use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ACTIVE: LazyLock<u32> = LazyLock::new(|| {
    std::env::var("HELMHOLTZ_MUTANT").map_or(0, |number| number.parse().unwrap())
});
static TRACE: LazyLock<Option<std::ffi::OsString>> =
    LazyLock::new(|| std::env::var_os("HELMHOLTZ_TRACE"));
static REACHED: [AtomicBool; MUTANTS + 1] = [const { AtomicBool::new(false) }; MUTANTS + 1];

/// The place of the active mutant among the `count` from number `first`, from 1; 0 if it is another.
#[inline]
pub fn at(first: u32, count: u32) -> u32 {
    match *ACTIVE {
        0 => trace(first),
        active if active.wrapping_sub(first) < count => active - first + 1,
        _ => 0,
    }
}

fn trace(first: u32) -> u32 {
    if let Some(file) = &*TRACE
        && !REACHED[first as usize].swap(true, Relaxed)
    {
        let file = std::fs::File::options().create(true).append(true).open(file);
        file.unwrap().write_all(format!("{first}\n").as_bytes()).unwrap();
    }
    0
}
"#;

/// Where the text of a mutant stands in the switched file, and which mutant of which site it is.
pub struct Arm {
    pub range: Range<usize>,
    pub site: usize,
    pub mutant: usize,
}

/// The text of a file with its sites switched, with those mutants alone that are `kept`: site and place there.
pub fn switched(
    source: &str,
    sites: &[(usize, &Site)],
    kept: impl Fn(usize, usize) -> bool,
) -> (String, Vec<Arm>) {
    let mut writer = Writer {
        source,
        kept,
        text: String::new(),
        arms: Vec::new(),
    };
    writer.copy(0..source.len(), sites);
    (writer.text, writer.arms)
}

struct Writer<'a, F> {
    source: &'a str,
    kept: F,
    text: String,
    arms: Vec<Arm>,
}

impl<F: Fn(usize, usize) -> bool> Writer<'_, F> {
    /// Writes a part of the source; sites are in order, each before the ones that lie in it.
    fn copy(&mut self, part: Range<usize>, mut sites: &[(usize, &Site)]) {
        let mut at = part.start;
        while let Some((&(index, site), rest)) = sites.split_first() {
            let inner = rest.partition_point(|(_, other)| other.range.start < site.range.end);
            self.text.push_str(&self.source[at..site.range.start]);
            self.switch(index, site, &rest[..inner]);
            at = site.range.end;
            sites = &rest[inner..];
        }
        self.text.push_str(&self.source[at..part.end]);
    }

    fn switch(&mut self, index: usize, site: &Site, inner: &[(usize, &Site)]) {
        let all = 0..site.mutants.len();
        let kept: Vec<usize> = all.filter(|&mutant| (self.kept)(index, mutant)).collect();
        match kept[..] {
            // Not a switch, but there may be some in it.
            [] => return self.copy(site.range.clone(), inner),
            [mutant, ..] if site.kind == Kind::Constant => {
                return self.mutant(index, site, mutant, "");
            }
            _ => {}
        }
        let (open, close) = match site.kind {
            Kind::Operand => ("(", ")"),
            Kind::Statement => ("", ""),
            Kind::Body | Kind::Iterator => ("{ ", " }"),
            Kind::Constant => unreachable!("it was written above"),
        };
        // One type for all arms.
        let end = match site.kind {
            Kind::Iterator => ".collect::<Vec<_>>().into_iter()",
            _ => "",
        };
        let (first, count) = (site.first, site.mutants.len());
        self.text.push_str(&format!(
            "{open}match crate::mutant::at({first}, {count}) {{ 0 => "
        ));
        self.arm(end, |writer| writer.copy(site.range.clone(), inner));
        for mutant in kept {
            self.text.push_str(&format!(", {} => ", mutant + 1));
            self.mutant(index, site, mutant, end);
        }
        self.text
            .push_str(&format!(", _ => unreachable!() }}{close}"));
    }

    /// Writes a site as a mutant has it.
    fn mutant(&mut self, index: usize, site: &Site, mutant: usize, end: &str) {
        let start = self.text.len();
        let Mutant { replaced, text, .. } = &site.mutants[mutant];
        self.arm(end, |writer| {
            writer.text += &writer.source[site.range.start..replaced.start];
            writer.text += text;
            writer.text += &writer.source[replaced.end..site.range.end];
        });
        self.arms.push(Arm {
            range: start..self.text.len(),
            site: index,
            mutant,
        });
    }

    fn arm(&mut self, end: &str, write: impl FnOnce(&mut Self)) {
        if !end.is_empty() {
            self.text.push('(');
        }
        write(self);
        if !end.is_empty() {
            self.text.push(')');
            self.text.push_str(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Origin;

    #[test]
    fn a_site_in_another_is_switched_in_the_sound_arm_alone() {
        let source = "fn f() -> u8 { 1 + 2 * 3 }";
        let mutant = |at: &str, text: &str, origin| {
            let start = source.find(at).unwrap();
            Mutant {
                file: String::new(),
                about: String::new(),
                place: (1, 1),
                line: String::new(),
                replaced: start..start + at.len(),
                text: text.into(),
                origin,
            }
        };
        let site = |range, kind, first, mutants| Site {
            file: String::new(),
            range,
            kind,
            first,
            mutants,
        };
        let body = mutant("1 + 2 * 3", "0", Origin::Function);
        let plus = mutant("+", "-", Origin::Expression);
        let times = [
            mutant("*", "+", Origin::Expression),
            mutant("*", "/", Origin::Expression),
        ];
        let sites = [
            site(13..26, Kind::Body, 1, vec![body]),
            site(15..24, Kind::Statement, 2, vec![plus]),
            site(19..24, Kind::Operand, 3, times.into()),
        ];
        let sites: Vec<_> = sites.iter().enumerate().collect();
        let (text, arms) = switched(source, &sites, |site, mutant| (site, mutant) != (2, 0));
        assert_eq!(
            text,
            "fn f() -> u8 { match crate::mutant::at(1, 1) { 0 => { match crate::mutant::at(2, 1) \
             { 0 => 1 + (match crate::mutant::at(3, 2) { 0 => 2 * 3, 2 => 2 / 3, _ => unreachable!() }), \
             1 => 1 - 2 * 3, _ => unreachable!() } }, 1 => { 0 }, _ => unreachable!() } }"
        );
        let texts: Vec<&str> = arms.iter().map(|arm| &text[arm.range.clone()]).collect();
        assert_eq!(texts, ["2 / 3", "1 - 2 * 3", "{ 0 }"]);
    }
}

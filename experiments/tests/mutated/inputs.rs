//! Mutated experiment files, and command lines for them.

use std::fs;

/// The files that come with the program, and whether they take `--dataset`.
const BUNDLED: [(&str, bool); 13] = [
    (include_str!("../../table1.toml"), true),
    (include_str!("../../table2.toml"), true),
    (include_str!("../../table3.toml"), true),
    (include_str!("../../helmholtz.toml"), true),
    (include_str!("../../arm-table2.toml"), true),
    (include_str!("../../fig1.toml"), true),
    (include_str!("../../fig3.toml"), true),
    (include_str!("../../table1-samples.toml"), true),
    (include_str!("../../arm-toy.toml"), false),
    (include_str!("../../apg-gmm.toml"), false),
    (include_str!("../../apg-dmm.toml"), false),
    (include_str!("../../apg-kl.toml"), false),
    (include_str!("../../apg-table1.toml"), false),
];

/// What stands in place of a value: the ends of every range, and other types.
const VALUES: [&str; 40] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "255",
    "1000",
    "65536",
    "1000000",
    "4294967296",
    "1099511627776",
    "1099511627777",
    "9223372036854775807",
    "-9223372036854775808",
    "0.0",
    "-0.0",
    "0.5",
    "1.0",
    "-1.0",
    "1e-300",
    "1e300",
    "inf",
    "-inf",
    "nan",
    "true",
    "false",
    "\"\"",
    "\"x\"",
    "\"../x\"",
    "\"jsa\"",
    "\"linear\"",
    "[]",
    "[0]",
    "[1, 2]",
    "[[]]",
    "{}",
    "{ x = 1 }",
    "1979-05-27",
    "[1000000, 1000000, 1000000]",
];

/// Flags, and what may follow them.
const FLAGS: [(&str, &[&str]); 17] = [
    (
        "--profile",
        &["quick", "paper", "cpu", "rws", "", "no such"],
    ),
    (
        "--method",
        &["jsa", "rws,rloo", "", ",", "jsa,jsa", "arm", "no such"],
    ),
    (
        "--net",
        &[
            "linear",
            "two-layers",
            "categorical",
            "",
            "no such",
            "linear,linear",
        ],
    ),
    ("--particles", NUMBERS),
    (
        "--seeds",
        &[
            "1",
            "1-3",
            "3-1",
            "1-",
            "0",
            "18446744073709551615",
            "1-18446744073709551615",
            "x",
            "1,1",
        ],
    ),
    ("--epochs", NUMBERS),
    ("--steps", NUMBERS),
    ("--device", &["cpu", "wgpu", "cuda", "gpu"]),
    ("--data-dir", &["", "/dev/null", "no/such"]),
    (
        "--dataset",
        &[
            "bits.amat",
            "glyphs-",
            "no.npz",
            "",
            "bits.amat,bits.amat,bits.amat",
            ",,",
        ],
    ),
    (
        "--split",
        &[
            "0.8,0.1,0.1",
            "1",
            "0,0,1",
            "nan,nan,nan",
            "-1,1,1",
            "1e308,1e308,1e308",
            "inf,0,0",
        ],
    ),
    ("--split-seed", NUMBERS),
    ("--jobs", NUMBERS),
    ("--json", &[]),
    ("--fresh", &[]),
    ("--on", &["script", "no such"]),
    ("--no-such", NUMBERS),
];

const NUMBERS: &[&str] = &[
    "1",
    "2",
    "0",
    "-1",
    "5",
    "65536",
    "1000000",
    "4294967296",
    "4294967297",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "nan",
    "",
];

/// An experiment file and flags.
pub struct Input {
    /// The content of the file.
    pub file: Vec<u8>,
    flags: Vec<&'static str>,
    told: String,
}

impl Input {
    /// The input of a seed.
    pub fn of(seed: u64) -> Self {
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (text, takes_data) = BUNDLED[chance.below(BUNDLED.len())];
        let mut told = text
            .lines()
            .find(|line| line.starts_with("name"))
            .unwrap_or("")
            .to_string();
        let mut file = text.as_bytes().to_vec();
        for _ in 0..chance.below(4) {
            let edit = edit(&mut file, &mut chance);
            told += &format!("; {edit}");
        }
        let mut flags = Vec::new();
        if takes_data && chance.below(8) > 0 {
            flags.extend(["--dataset", "bits.amat"]);
        }
        for _ in 0..[0, 0, 1, 1, 2, 3][chance.below(6)] {
            let (flag, values) = FLAGS[chance.below(FLAGS.len())];
            flags.push(flag);
            if !values.is_empty() {
                flags.push(values[chance.below(values.len())]);
            }
        }
        told += &format!("; {}", flags.join(" "));
        Self { file, flags, told }
    }

    /// The command line, of this file and folder.
    pub fn line<'a>(&'a self, file: &'a str, out: &'a str) -> Vec<&'a str> {
        let begin = ["helmholtz", "reproduce", file, "--out", out];
        begin
            .into_iter()
            .chain(self.flags.iter().copied())
            .collect()
    }

    /// What was done to which file.
    pub fn told(&self) -> &str {
        &self.told
    }
}

/// A folder with `bits.amat`, 200 images of nine bits; in memory where there is such a place.
pub fn folder() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let row = |row: usize| {
        let bit = |i: usize| ["0 ", "1 "][(i * i / 7 + row) % 2];
        (9 * row..9 * row + 9).map(bit).collect::<String>() + "\n"
    };
    let text: String = (0..200).map(row).collect();
    fs::write(home.path().join("bits.amat"), text).unwrap();
    home
}

/// Edits a file; says how.
fn edit(file: &mut Vec<u8>, chance: &mut Chance) -> String {
    let text = String::from_utf8_lossy(file).into_owned();
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let count = lines.len().max(1);
    let line = chance.below(count);
    let has_value: Vec<usize> = (0..lines.len())
        .filter(|&i| lines[i].contains('=') && !lines[i].starts_with('#'))
        .collect();
    let told = match chance.below(12) {
        0..=5 if !has_value.is_empty() => {
            let at = has_value[chance.below(has_value.len())];
            let value = VALUES[chance.below(VALUES.len())];
            replace_value(&mut lines[at], value, chance);
            lines[at].clone()
        }
        6 if !has_value.is_empty() => {
            let [to, from] = [(); 2].map(|()| has_value[chance.below(has_value.len())]);
            let value = lines[from].split_once('=').map(|(_, v)| v.to_string());
            replace_value(&mut lines[to], &value.unwrap_or_default(), chance);
            lines[to].clone()
        }
        7 if line < lines.len() => format!("without `{}`", lines.remove(line)),
        8 if line < lines.len() => {
            let twice = lines[line].clone();
            lines.insert(line, twice);
            format!("twice `{}`", lines[line])
        }
        9 => {
            lines.truncate(line);
            format!("cut at line {line}")
        }
        _ => {
            let at = chance.below(file.len().max(1));
            if let Some(byte) = file.get_mut(at) {
                *byte = chance.below(256) as u8;
            }
            return format!("another byte at {at}");
        }
    };
    *file = (lines.join("\n") + "\n").into_bytes();
    told
}

/// Puts `value` in place of the whole value of a line, or of one number in it.
fn replace_value(line: &mut String, value: &str, chance: &mut Chance) {
    let Some((key, old)) = line.split_once('=') else {
        return;
    };
    let digits: Vec<usize> = old
        .match_indices(|c: char| c.is_ascii_digit())
        .map(|(i, _)| i)
        .collect();
    if chance.below(2) == 0 || digits.is_empty() {
        *line = format!("{key}= {value}");
        return;
    }
    let begin = digits[chance.below(digits.len())];
    let is_of_number = |c: char| c.is_ascii_digit() || ".e_".contains(c);
    let before = old[..begin]
        .char_indices()
        .rfind(|&(_, c)| !is_of_number(c));
    let start = before.map_or(0, |(at, c)| at + c.len_utf8());
    let end = old[begin..]
        .find(|c| !is_of_number(c))
        .map_or(old.len(), |at| begin + at);
    *line = format!("{key}={}{value}{}", &old[..start], &old[end..]);
}

/// Pseudo-random numbers (xorshift64*), the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

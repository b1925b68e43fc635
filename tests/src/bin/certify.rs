//! The certificate table: every estimator of the catalogue, held against enumeration.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use helmholtz_estimators::{Entry, Method, Target};
use helmholtz_tests::Reference;
use helmholtz_tests::certify::{Certificate, Subject, certify, reinforce_variance, twins};
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;

const HELP: &str = "\
Usage: cargo xtask certify [--method NAME,...] [--out FILE]

Holds every estimator of the catalogue against exact enumeration on small models: the mean of 200,000 estimates against what
it claims to be unbiased for, and twins with a fault beside it, which must fail. Prints a Markdown table; --out writes it
to a file too. Ends with 1 if a claim does not hold, or a twin passes.

  --method NAME,...   only these
  --out FILE          write the table there";

struct Arguments {
    methods: Vec<String>,
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("error: {problem}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let (table, sound) = table(&arguments.methods);
    println!("{table}");
    if let Some(file) = arguments.out
        && let Err(error) = fs::write(&file, &table)
    {
        eprintln!("error: cannot write {}: {error}", file.display());
        return ExitCode::from(2);
    }
    match sound {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn parse(mut given: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let (mut methods, mut out) = (Vec::new(), None);
    while let Some(flag) = given.next() {
        let mut value = || given.next().ok_or(format!("`{flag}` needs a value"));
        match flag.as_str() {
            "--help" | "-h" => return Ok(None),
            "--method" => methods.extend(value()?.split(',').map(str::to_owned)),
            "--out" => out = Some(PathBuf::from(value()?)),
            other => return Err(format!("there is no flag `{other}`")),
        }
    }
    for name in &methods {
        name.parse::<Method>().map_err(|error| error.to_string())?;
    }
    Ok(Some(Arguments { methods, out }))
}

/// The table, and whether all claims hold and all twins fail.
fn table(methods: &[String]) -> (String, bool) {
    let start = Instant::now();
    let chosen = |name: &str| methods.is_empty() || methods.iter().any(|m| m == name);
    let one = Subject::of(&Reference::t1());
    let two = Subject::of(&Reference::t2());
    let few_one = Subject::of(&Reference::t1()).fewer();
    let few_two = Subject::of(&Reference::t2()).fewer();
    let unit = [reinforce_variance(&one), reinforce_variance(&two)];
    eprintln!("twins");
    let twins: Vec<_> = twins::all(&one)
        .into_iter()
        .filter(|t| chosen(t.of))
        .collect();
    let mut rows = String::new();
    let mut sound = twins.iter().all(|twin| twin.t > STUDENT_LIMIT_OF_MANY);
    for entry in Method::CATALOGUE.iter().filter(|entry| chosen(entry.name)) {
        eprintln!("{}", entry.name);
        let (one, two) = match entry.method {
            Method::Rebar(_) => (&few_one, &few_two),
            _ => (&one, &two),
        };
        let found = [certify(entry, one, "T1"), certify(entry, two, "T2")];
        sound &= found.iter().all(Certificate::holds);
        let failing = twins.iter().filter(|twin| twin.of == entry.name);
        let failing: Vec<_> = failing
            .map(|t| format!("{} ({:.0})", t.fault, t.t))
            .collect();
        rows.push_str(&row(entry, &found, unit, &failing.join("; ")));
    }
    let head = format!(
        "Each estimator of the catalogue on two models small enough to enumerate: T1, three bits in one layer, and T2, two layers \
         of two, all parameters random; one datum, K = 2 (or the least), learned parts at random values, f64. 200,000 \
         estimates each, in 100 batches (20,000 of REBAR and RELAX, which differentiate twice). A claim holds if the largest |t| over all coordinates of the gradient is below \
         {STUDENT_LIMIT_OF_MANY} (99 degrees of freedom; all claims together fail by chance with probability below 1e-6). Where \
         nothing is claimed the bias is the distance of the mean from the gradient in φ, relative to its norm. A variance is the \
         sum over φ of one estimate's for one datum, relative to REINFORCE's with K = 2. A twin has one fault, and must \
         fail.\n\n\
         | `--method` | unbiased for | largest |t|: T1, T2 | bias: T1, T2 | variance: T1, T2 | evaluations of f (T1) | twins that \
         fail (largest |t|, T1) |\n|---|---|---|---|---|---|---|\n"
    );
    let verdict = match sound {
        true => "All claims hold and all twins fail",
        false => "**A CLAIM DOES NOT HOLD, OR A TWIN PASSES**",
    };
    let seconds = start.elapsed().as_secs();
    (format!("{head}{rows}\n{verdict}; {seconds} s.\n"), sound)
}

fn row(entry: &Entry, found: &[Certificate; 2], unit: [f64; 2], twins: &str) -> String {
    let both = |cell: &dyn Fn(&Certificate, f64) -> String| {
        let cells = found
            .iter()
            .zip(unit)
            .map(|(found, unit)| cell(found, unit));
        cells.collect::<Vec<_>>().join(", ")
    };
    let t = both(&|c, _| match c.t {
        Some(t) if c.holds() => format!("{t:.1}"),
        Some(t) => format!("**{t:.1}**"),
        None => "–".into(),
    });
    let bias = match entry.target {
        Target::Elbo | Target::Bound | Target::Inclusive => "–".into(),
        _ => both(&|c, _| format!("{:.3}", c.bias)),
    };
    let variance = both(&|c, unit| format!("{:.2}", c.variance / unit));
    format!(
        "| `{}` | {} | {t} | {bias} | {variance} | {} | {twins} |\n",
        entry.name, entry.target, found[0].evaluations
    )
}

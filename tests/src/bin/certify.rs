//! The certificate table: every estimator of the catalogue, held against enumeration.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use helmholtz_categorical_vae::CategoricalVae;
use helmholtz_count_vae::CountVae;
use helmholtz_estimators::{
    Declaration, Entry, LatentKind, Logits, Method, Signals, Target, Weighted,
};
use helmholtz_invariance::gradients::{Certificate, Subject, certify};
use helmholtz_sbn::Sbn;
use helmholtz_tests::certify::{
    certify_normalised_nvil, mistaken, of_counts, reinforce_variance, subject_of, twins,
    twins::Twin,
};
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;
use helmholtz_tests::{Categories, Reference, Tape};
use serde_json::{Value, json};

const HELP: &str = "\
Usage: cargo xtask certify [--method NAME,...] [--out FILE]

Holds every estimator of the catalogue against exact enumeration on small models: the mean of 200,000 estimates against what
it claims to be unbiased for, and twins with a fault beside it, which must fail. Prints a Markdown table; --out writes it
to a file too, and its numbers with every digit beside it, as JSON. Ends with 1 if a claim does not hold, or a twin passes.

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
    let (table, rows, sound) = table(&arguments.methods);
    println!("{table}");
    if let Some(file) = arguments.out {
        let numbers = serde_json::to_string_pretty(&rows).expect("plain data") + "\n";
        for (file, text) in [(file.with_extension("json"), &numbers), (file, &table)] {
            if let Err(error) = fs::write(&file, text) {
                eprintln!("error: cannot write {}: {error}", file.display());
                return ExitCode::from(2);
            }
        }
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

/// The table, the numbers of its rows, and whether all claims hold and all twins fail.
fn table(methods: &[String]) -> (String, Vec<Value>, bool) {
    let start = Instant::now();
    let chosen = |name: &str| methods.is_empty() || methods.iter().any(|m| m == name);
    let (many, fewer) = (Subjects::new(), Subjects::new().fewer());
    let unit = many.reinforce_variances();
    eprintln!("twins");
    let mut twins = twins::all(&many.t1, &many.t3);
    let (mut rows, mut numbers) = (String::new(), Vec::new());
    let mut sound = true;
    for entry in Method::CATALOGUE.iter().filter(|entry| chosen(entry.name)) {
        eprintln!("{}", entry.name);
        let subjects = match entry.method {
            Method::Logits(Logits::Rebar(_)) | Method::Weighted(Weighted::CoupledChains(_)) => {
                &fewer
            }
            _ => &many,
        };
        let method = entry.method.claimed();
        let found = subjects.certify(&method);
        if method.domain().takes(LatentKind::Bits) {
            // Coupled chains have so wide a spread that their twin is seen in all estimates alone.
            let flat = match entry.method {
                Method::Weighted(Weighted::CoupledChains(_)) => &many.flat_t1,
                _ => &subjects.flat_t1,
            };
            twins.extend(twins::without_prior(entry, flat));
        }
        sound &= found.iter().flatten().all(Certificate::holds);
        let own = twins.iter().filter(|twin| twin.of == entry.name);
        let own: Vec<&Twin> = own.collect();
        sound &= own.iter().all(|twin| twin.t > STUDENT_LIMIT_OF_MANY);
        let failing: Vec<_> = own
            .iter()
            .map(|twin| format!("{} ({:.0})", twin.fault, twin.t))
            .collect();
        let (name, claim) = (format!("`{}`", entry.name), entry.target.to_string());
        let claimed = claims_exactly(entry.target);
        numbers.push(numbers_of(entry, claimed, &found, unit, &own));
        let alone = own.iter().all(|twin| twin.fault == twins::WITHOUT_PRIOR);
        if claimed && method.domain().takes(LatentKind::Bits) && alone {
            eprintln!("{} has no twin of its own", entry.name);
            sound = false;
        }
        rows.push_str(&row(
            &name,
            &claim,
            claimed,
            &found,
            unit,
            &failing.join("; "),
        ));
        if matches!(entry.method, Method::Signals(Signals::Nvil(_))) {
            let found = many.certify_normalised_nvil();
            sound &= found.iter().flatten().all(Certificate::holds);
            let (text, own) = shipped_nvil(entry, &found, unit);
            rows.push_str(&text);
            numbers.push(own);
        }
    }
    let head = format!(
        "Each estimator of the catalogue on models small enough to enumerate: T1, three bits in one layer, T2, two layers of two, \
         T3, two variables of three classes, and T4, two binomial counts of two trials, all parameters random; one datum, K = 2 (or the least), learned parts at random values, f64. 200,000 \
         estimates each, in 100 batches (20,000 of REBAR and RELAX, which differentiate twice, and of coupled chains, but for their twin without log p(h)). A claim holds if the largest t in absolute value over all coordinates of the gradient is below \
         {STUDENT_LIMIT_OF_MANY} (99 degrees of freedom; all claims together fail by chance with probability below 1e-6). Where \
         nothing is claimed the bias is the distance of the mean from the gradient in φ, relative to its norm. A variance is the \
         sum over φ of one estimate's for one datum, relative to REINFORCE's with K = 2. A twin has one fault, and must \
         fail.\n\n\
         | `--method` | unbiased for | largest t: T1 to T4 | bias: T1 to T4 | variance: T1 to T4 | evaluations of f \
         (T1) | twins that fail (largest t, of T1 unless said) |\n|---|---|---|---|---|---|---|\n"
    );
    let verdict = match sound {
        true => "All claims hold and all twins fail",
        false => "**A CLAIM DOES NOT HOLD, OR A TWIN PASSES**",
    };
    let seconds = start.elapsed().as_secs();
    let table = format!("{head}{rows}\n{verdict}; {seconds} s.\n");
    (table, numbers, sound)
}

/// The row of NVIL as it is shipped, and its numbers.
fn shipped_nvil(entry: &Entry, found: &Certificates, unit: [f64; 4]) -> (String, Value) {
    let (name, claim) = ("`nvil` as shipped, √v = 2", "θ: ∇ ELBO; φ: ∇ ELBO / √v");
    let mut numbers = numbers_of(entry, true, found, unit, &[]);
    numbers["method"] = "nvil, as shipped".into();
    numbers["target"] = claim.into();
    (row(name, claim, true, found, unit, ""), numbers)
}

/// Numbers of a row, T1 to T4: what is not defined there, or says nothing, is none.
fn numbers_of(
    entry: &Entry,
    exact: bool,
    found: &Certificates,
    unit: [f64; 4],
    twins: &[&Twin],
) -> Value {
    let each = |of: &dyn Fn(&Certificate, f64) -> Option<f64>| {
        let each = found.iter().zip(unit);
        each.map(|(found, unit)| of(found.as_ref()?, unit))
            .collect::<Vec<_>>()
    };
    let twin = |twin: &&Twin| json!({"fault": twin.fault, "t": twin.t});
    json!({
        "method": entry.name,
        "target": entry.target.to_string(),
        "t": each(&|c, _| c.t),
        "bias": each(&|c, _| (!exact).then_some(c.bias)),
        "variance": each(&|c, unit| Some(c.variance / unit)),
        "evaluations": found.iter().flatten().next().map_or(0, |c| c.evaluations),
        "twins": twins.iter().map(twin).collect::<Vec<_>>(),
    })
}

/// What everything is certified on, and T1 mistaken for one with an even prior.
struct Subjects {
    t1: Subject<Sbn<Tape>>,
    t2: Subject<Sbn<Tape>>,
    t3: Subject<CategoricalVae<Tape>>,
    t4: Subject<CountVae<Tape>>,
    flat_t1: Subject<Sbn<Tape>>,
}

/// One a subject, where the method is defined for its latents.
type Certificates = [Option<Certificate>; 4];

impl Subjects {
    fn new() -> Self {
        let (t1, t2) = (Reference::t1(), Reference::t2());
        let flat = t1.clone().with_flat_prior();
        Self {
            t1: subject_of(&t1),
            t2: subject_of(&t2),
            t3: subject_of(&Categories::t3()),
            t4: of_counts(),
            flat_t1: mistaken(&t1, &flat),
        }
    }

    /// The certificates on each that the method is defined for.
    fn certify(&self, method: &Method) -> Certificates {
        let takes = |latents| method.domain().takes(latents);
        let (bits, classes) = (takes(LatentKind::Bits), takes(LatentKind::Classes));
        [
            bits.then(|| certify(method, &self.t1)),
            bits.then(|| certify(method, &self.t2)),
            classes.then(|| certify(method, &self.t3)),
            takes(LatentKind::Counts).then(|| certify(method, &self.t4)),
        ]
    }

    fn certify_normalised_nvil(&self) -> Certificates {
        [
            Some(certify_normalised_nvil(&self.t1)),
            Some(certify_normalised_nvil(&self.t2)),
            Some(certify_normalised_nvil(&self.t3)),
            Some(certify_normalised_nvil(&self.t4)),
        ]
    }

    fn reinforce_variances(&self) -> [f64; 4] {
        [
            reinforce_variance(&self.t1),
            reinforce_variance(&self.t2),
            reinforce_variance(&self.t3),
            reinforce_variance(&self.t4),
        ]
    }

    fn fewer(self) -> Self {
        Self {
            t1: self.t1.fewer(),
            t2: self.t2.fewer(),
            t3: self.t3.fewer(),
            t4: self.t4.fewer(),
            flat_t1: self.flat_t1.fewer(),
        }
    }
}

/// Whether a claim is of the mean at every K, so that a bias says nothing more.
fn claims_exactly(target: Target) -> bool {
    matches!(
        target,
        Target::Elbo | Target::Bound | Target::Likelihood | Target::Inclusive
    )
}

fn row(
    name: &str,
    claim: &str,
    exact: bool,
    found: &Certificates,
    unit: [f64; 4],
    twins: &str,
) -> String {
    let each = |cell: &dyn Fn(&Certificate, f64) -> String| {
        let cells = found.iter().zip(unit).map(|(found, unit)| match found {
            Some(found) => cell(found, unit),
            None => "–".into(),
        });
        cells.collect::<Vec<_>>().join(", ")
    };
    let t = each(&|c, _| match c.t {
        Some(t) if c.holds() => format!("{t:.1}"),
        Some(t) => format!("**{t:.1}**"),
        None => "–".into(),
    });
    let bias = match exact {
        true => "–".into(),
        false => each(&|c, _| format!("{:.3}", c.bias)),
    };
    let variance = each(&|c, unit| format!("{:.2}", c.variance / unit));
    let evaluations = found
        .iter()
        .flatten()
        .next()
        .map_or(0, |found| found.evaluations);
    format!("| {name} | {claim} | {t} | {bias} | {variance} | {evaluations} | {twins} |\n")
}

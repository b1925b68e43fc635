//! Documents made of what estimators declare: the README's catalogue, its certificates as they were recorded, and the book's pages,
//! one a method. `HELMHOLTZ_DOCUMENTS=write` in the environment writes them anew (`cargo xtask book`).

use std::fs;
use std::path::{Path, PathBuf};

use helmholtz_estimators::{Entry, Method, markdown};
use serde_json::Value;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = workspace().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Holds the file to `expected`, or writes it.
fn hold(path: &str, expected: &str) {
    if std::env::var_os("HELMHOLTZ_DOCUMENTS").is_some_and(|value| value == "write") {
        fs::write(workspace().join(path), expected).unwrap();
    } else {
        assert_eq!(read(path), expected, "{path} is old: `cargo xtask book`");
    }
}

/// The text with what stands between `<!-- name -->` and `<!-- end of name -->` replaced.
fn with_section(text: &str, name: &str, content: &str) -> String {
    let (start, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = text.split_once(&start).expect("a place for the table");
    let (_, after) = rest.split_once(&end).expect("an end of the table");
    format!("{before}{start}\n{content}\n{end}{after}")
}

/// The recorded certificates.
fn certificates() -> Vec<Value> {
    serde_json::from_str(&read("experiments/results/certificates.json")).unwrap()
}

/// A method's certificate.
fn certificate<'a>(certificates: &'a [Value], name: &str) -> &'a Value {
    let own = certificates.iter().find(|row| row["method"] == name);
    own.unwrap_or_else(|| panic!("{name} has no certificate: `cargo xtask certify` makes it"))
}

/// Numbers of a certificate on T1 to T4.
fn of_models(certificate: &Value, what: &str) -> Vec<Option<f64>> {
    let numbers = certificate[what].as_array().unwrap().iter();
    numbers.map(Value::as_f64).collect()
}

/// A number with so many digits, or a dash.
fn digits(number: Option<f64>, digits: usize) -> String {
    number.map_or("–".into(), |number| format!("{number:.digits$}"))
}

#[test]
fn the_readme_shows_the_catalogue_and_the_certificates() {
    let path = "crates/estimators/README.md";
    let recorded = read("experiments/results/certificates.md");
    let table: Vec<&str> = recorded.lines().filter(|l| l.starts_with('|')).collect();
    let text = with_section(&read(path), "catalogue", &markdown());
    let table = format!("{}\n", table.join("\n"));
    hold(path, &with_section(&text, "certificates", &table));
}

/// The page of the book that derives a family, by the place of its source.
fn family(source: &str) -> (&'static str, &'static str) {
    match source.split_once('/').expect("a folder") {
        ("weighted", "jsa.rs" | "msc.rs" | "coupled.rs") => ("Chains", "chains.md"),
        ("weighted", "rws.rs" | "wake_sleep.rs") => ("Wake-sleep", "wake-sleep.md"),
        ("weighted" | "signals" | "leave_one_out", _) | ("logits", "unordered.rs") => {
            ("Score function", "score-function.md")
        }
        ("logits", "arsm.rs") => ("Exponential races", "races.md"),
        ("logits", "rebar.rs") => ("REBAR and RELAX", "rebar-relax.md"),
        ("logits", _) => ("Antithetic pairs", "antithetic.md"),
        ("pathwise", _) => ("Relaxed and straight-through", "pathwise.md"),
        other => panic!("no family for {other:?}"),
    }
}

/// The file that declares a name, from `src` on, and what is documented there of the estimator.
fn documented(name: &str) -> (String, String) {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for folder in ["weighted", "signals", "leave_one_out", "logits", "pathwise"] {
        for entry in fs::read_dir(src.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let Some((before, _)) = code.split_once(&format!("\"{name}\"")) else {
                continue;
            };
            let file = path.file_name().unwrap().to_str().unwrap();
            let block = before.lines().rev().find(|line| line.starts_with("impl"));
            let of = block.and_then(|line| line.rsplit(" for ").next());
            let of = of.unwrap_or_default().chars();
            let of: String = of.take_while(|c| c.is_alphanumeric()).collect();
            return (format!("{folder}/{file}"), doc_comment(&text, &of));
        }
    }
    panic!("nothing declares {name}");
}

/// The doc comment of this type, or of the file's first one.
fn doc_comment(text: &str, name: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |line: &&str, name: &str| {
        let own = ["pub struct ", "pub enum "].iter();
        let mut rest = own.filter_map(|kind| line.strip_prefix(kind));
        rest.any(|rest| rest.starts_with(name))
    };
    let at = lines.iter().position(|line| begins(line, name));
    let at = at.or_else(|| lines.iter().position(|line| begins(line, "")));
    let above = lines[..at.expect("a type")].iter().rev();
    let mut comment: Vec<&str> = above
        .take_while(|line| line.starts_with("///") || line.starts_with("#["))
        .filter_map(|line| line.strip_prefix("///"))
        .collect();
    comment.reverse();
    let line = |line: &&str| {
        let line = line.strip_prefix(' ').unwrap_or(line);
        line.strip_prefix("# ")
            .map_or(line.to_string(), |heading| format!("**{heading}.**"))
    };
    without_targets(&comment.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Links to items as the items' names.
fn without_targets(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let (before, link) = rest.split_at(start);
        let end = link.find("`]").expect("an end of the link");
        out.push_str(before);
        out.push_str(&link[1..=end]);
        rest = &link[end + 2..];
        if rest.starts_with('(') {
            rest = &rest[rest.find(')').expect("an end of the target") + 1..];
        }
    }
    out + rest
}

/// Test NLL after twenty epochs on a net, where a run is on record.
fn after_twenty_epochs(net: &str, name: &str) -> Option<f64> {
    let path = format!("experiments/results/estimators/{net}/{name}/seed-1/result.json");
    let text = fs::read_to_string(workspace().join(path)).ok()?;
    let result: Value = serde_json::from_str(&text).unwrap();
    Some(result["content"]["test_nll"].as_f64().unwrap())
}

/// That number as tables show it.
fn shown(nll: Option<f64>) -> String {
    nll.map_or("–".into(), |nll| format!("{nll:.2}"))
}

const NETS: [(&str, &str); 2] = [("Linear", "linear"), ("Nonlinear", "nonlinear")];

/// How many of the methods with a run on record are better, and one more; and how many there are.
fn place(net: &str, nll: f64) -> (usize, usize) {
    let all = Method::CATALOGUE.iter();
    let all: Vec<f64> = all
        .filter_map(|e| after_twenty_epochs(net, e.name))
        .collect();
    (
        1 + all.iter().filter(|other| **other < nll).count(),
        all.len(),
    )
}

/// The part of a page that shows a certificate.
fn certified(certificate: &Value) -> String {
    let mut part = String::from(
        "On enumerable models; [what the rows mean](certificates.md).\n\n| | T1 | T2 | T3 | T4 |\n|---|---|---|---|---|\n",
    );
    for (what, key, places) in [
        ("largest t against the claim", "t", 1),
        ("relative bias in φ", "bias", 3),
        ("variance in φ, REINFORCE with K = 2 is 1", "variance", 2),
    ] {
        let values = of_models(certificate, key).into_iter();
        let values: Vec<String> = values.map(|value| digits(value, places)).collect();
        part.push_str(&format!("| {what} | {} |\n", values.join(" | ")));
    }
    let twins = certificate["twins"].as_array().unwrap().iter();
    let twin = |twin: &Value| {
        let t = digits(twin["t"].as_f64(), 0);
        format!("{} ({t})", twin["fault"].as_str().unwrap())
    };
    let twins: Vec<String> = twins.map(twin).collect();
    if !twins.is_empty() {
        let twins = twins.join("; ");
        part.push_str(&format!(
            "\nBroken twins that fail, with their t: {twins}.\n"
        ));
    }
    part
}

fn page(entry: &Entry, certificates: &[Value]) -> String {
    let (source, comment) = documented(entry.name);
    let (family, family_page) = family(&source);
    let yes_no = |yes| if yes { "yes" } else { "no" };
    let or_dash = |text: String| if text.is_empty() { "–".into() } else { text };
    let mut page = format!(
        "<!-- Made by `cargo xtask book` from the estimator's declaration. -->\n\n# {}\n\nIdea: {}.\n\n{comment}\n\n\
         Derivation, and when to take it: [{family}]({family_page}). Source: `crates/estimators/src/{source}`.\n\n",
        entry.label, entry.idea
    );
    let rows = [
        ("`--method`", format!("`{}`", entry.name)),
        ("unbiased for", entry.target.to_string()),
        ("latents", entry.latents()),
        ("least K", entry.least_particles().to_string()),
        (
            "evaluations of f, a datum and layer",
            entry.evaluations().replace('|', "\\|"),
        ),
        ("learns beside the model", or_dash(entry.learns())),
        (
            "keeps a chain a datum",
            yes_no(entry.method.keeps_chains()).into(),
        ),
        ("learns from dreams", yes_no(entry.method.sleeps()).into()),
    ];
    page.push_str("| declared | |\n|---|---|\n");
    for (what, value) in rows {
        page.push_str(&format!("| {what} | {value} |\n"));
    }

    page.push_str("\n## Certificate\n\n");
    page.push_str(&certified(certificate(certificates, entry.name)));
    page.push_str("\n## After twenty epochs\n\n");
    let runs = NETS.map(|(net, folder)| (net, folder, after_twenty_epochs(folder, entry.name)));
    if runs.iter().all(|(.., nll)| nll.is_none()) {
        page.push_str("No run is on record yet. See [choosing](choosing.md).\n");
        return page;
    }
    page.push_str("One seed, K = 2, S = 100 on 1,000 images: no converged numbers. See [choosing](choosing.md).\n\n| net | test NLL | place |\n|---|---|---|\n");
    for (net, folder, nll) in runs {
        let Some(nll) = nll else { continue };
        let (place, among) = place(folder, nll);
        page.push_str(&format!("| {net} | {nll:.2} | {place} of {among} |\n"));
    }
    page
}

/// The table of the page on choosing: what a unit of precision costs on enumerable models, and what was learned in twenty epochs.
fn choosing(certificates: &[Value]) -> String {
    let mut table = String::from(
        "| method | unbiased for | latents | variance × evaluations, T1 | T2 | T3 | T4 | NLL, Linear | NLL, Nonlinear |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut entries: Vec<&Entry> = Method::CATALOGUE.iter().collect();
    entries.sort_by(|a, b| {
        let nll = |entry: &Entry| after_twenty_epochs("nonlinear", entry.name);
        // Those without a run come last.
        let key = |entry| nll(entry).unwrap_or(f64::INFINITY);
        key(a).total_cmp(&key(b))
    });
    for entry in entries {
        let own = certificate(certificates, entry.name);
        let evaluations = own["evaluations"].as_f64().unwrap();
        let mut variances = of_models(own, "variance").into_iter();
        let mut cost = || {
            let variance = variances.next().flatten();
            digits(variance.map(|variance| variance * evaluations), 2)
        };
        table.push_str(&format!(
            "| [{}]({}.md) | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            entry.label,
            entry.name,
            entry.target,
            entry.latents(),
            cost(),
            cost(),
            cost(),
            cost(),
            shown(after_twenty_epochs("linear", entry.name)),
            shown(after_twenty_epochs("nonlinear", entry.name)),
        ));
    }
    table
}

/// The book's summary with the page of each method below the page of its family.
fn summary(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("  - [`")) {
        out.push_str(&format!("{line}\n"));
        for entry in Method::CATALOGUE.iter() {
            let (_, page) = family(&documented(entry.name).0);
            if line.ends_with(&format!("(methods/{page})")) {
                out.push_str(&format!("  - [`{0}`](methods/{0}.md)\n", entry.name));
            }
        }
    }
    out
}

#[test]
fn the_book_has_a_page_of_each_method_as_it_declares_itself() {
    let certificates = certificates();
    for entry in Method::CATALOGUE.iter() {
        let path = format!("docs/src/methods/{}.md", entry.name);
        hold(&path, &page(entry, &certificates));
    }
    let path = "docs/src/SUMMARY.md";
    hold(path, &summary(&read(path)));
    let path = "docs/src/methods/choosing.md";
    hold(
        path,
        &with_section(&read(path), "choosing", &choosing(&certificates)),
    );
    let path = "docs/src/methods/README.md";
    hold(path, &with_section(&read(path), "catalogue", &markdown()));
}

#[test]
fn each_method_is_documented_and_each_page_is_its_own() {
    let certificates = certificates();
    let mut titles: Vec<String> = Vec::new();
    for entry in Method::CATALOGUE.iter() {
        let (source, comment) = documented(entry.name);
        let words = comment.split_whitespace().count();
        assert!(
            words > 20,
            "{source} says little of {}: {comment}",
            entry.name
        );
        let page = page(entry, &certificates);
        titles.extend(
            page.lines()
                .find(|line| line.starts_with("# "))
                .map(String::from),
        );
    }
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), Method::CATALOGUE.len());
}

//! The page of findings says what the recorded runs say.

use std::fs;
use std::path::Path;

/// Text and target of every link in a text.
fn links(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (before, after) = rest.split_at(middle);
        let label = before.rsplit_once('[').map_or("", |(_, label)| label);
        let Some((target, left)) = after[2..].split_once(')') else {
            break;
        };
        found.push((label.to_string(), target.to_string()));
        rest = left;
    }
    found
}

/// The test NLL that a run's result reports.
fn nll(path: &Path) -> f64 {
    let text = fs::read_to_string(path).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let result = &result["content"];
    let nll = result["final_nll"].as_f64().or(result["test_nll"].as_f64());
    nll.unwrap()
}

/// The test NLL of a run's result as the page writes it; of a folder of seeds, mean ± standard deviation.
fn reported(path: &Path) -> String {
    if path.is_file() {
        return format!("{:.2}", nll(path));
    }
    let seeds = fs::read_dir(path).unwrap();
    let values: Vec<f64> = seeds
        .map(|seed| nll(&seed.unwrap().path().join("result.json")))
        .collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    format!("{mean:.2} ± {:.2}", (squares / (n - 1.0)).sqrt())
}

#[test]
fn every_link_leads_to_a_record_and_every_linked_number_is_its() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(home.join("FINDINGS.md")).unwrap();
    // A row's own number, and one that is itself a link.
    let is_number = |text: &str| text.parse::<f64>().is_ok() && text.contains('.');
    let mut checked = 0;
    for (label, target) in links(&text) {
        let path = home.join(&target);
        assert!(path.exists(), "{target}");
        if target.ends_with("result.json") && is_number(&label) {
            assert_eq!(label, reported(&path), "{target}");
            checked += 1;
        }
    }
    for line in text.lines().filter(|line| line.starts_with("| [")) {
        let (_, target) = links(line).remove(0);
        let number = reported(&home.join(&target));
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(
            cells.contains(&number.as_str()),
            "{number} is not in {line}"
        );
        checked += 1;
    }
    assert!(checked >= 10, "{checked}");
}

/// A number with the page's minus sign, or a plain one.
fn number(text: &str) -> Option<f64> {
    text.replace('−', "-").parse().ok()
}

#[test]
fn every_difference_is_ours_less_what_is_published_in_nats_and_in_its_deviations() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(home.join("FINDINGS.md")).unwrap();
    let mut checked = 0;
    for line in text.lines().filter(|line| line.ends_with(" sd) |")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [.., ours, published, difference] = cells[..] else {
            panic!("{line}")
        };
        let number = |text| number(text).unwrap_or_else(|| panic!("{text}: {line}"));
        let (mean, published_sd) = published.split_once(" ± ").unwrap();
        let (nats, deviations) = difference.split_once(" (").unwrap();
        // One seed has no deviation of its own; a published one of 0.0 counts as the most that is rounded to it.
        let (ours, our_sd) = ours.split_once(" ± ").unwrap_or((ours, "0"));
        let sd = number(published_sd).max(0.05).hypot(number(our_sd));
        let (ours, mean, nats) = (number(ours), number(mean), number(nats));
        let deviations = number(deviations.strip_suffix(" sd)").unwrap());
        // Ours has two decimals, deviations one.
        assert!((ours - mean - nats).abs() < 0.0051, "{line}");
        assert!(
            ((ours - mean) / sd - deviations).abs() < 0.05 + 0.0051 / sd,
            "{line}"
        );
        checked += 1;
    }
    assert!(checked >= 8, "{checked}");
}

#[test]
fn every_command_names_an_experiment_that_there_is() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(home.join("FINDINGS.md")).unwrap();
    for command in text.split("cargo xtask reproduce ").skip(1) {
        let name: String = command
            .chars()
            .take_while(|c| !" `\n".contains(*c))
            .collect();
        let known = helmholtz_experiments::source::Source::find(&name);
        assert!(known.is_ok(), "{name}");
    }
}

//! `scoreboard`: every published number beside ours.

use crate::cli::Scoreboard;
use crate::kinds::READERS;
use crate::records::find;
use crate::scoreboard::{document, lines};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::reproduce::{End, named_together};
use helmholtz_harness::streams::Streams;
use helmholtz_report::files::write_text;
use helmholtz_report::markdown;
use serde_json::json;

/// Carries out a request.
///
/// # Errors
/// Folders that are not there; files that cannot be written.
pub fn scoreboard(args: &Scoreboard, streams: &Streams) -> Result<End, HarnessError> {
    let mut records = Vec::new();
    for root in std::iter::once(&args.results).chain(&args.out) {
        if !root.is_dir() {
            return Err(HarnessError::Unusable(format!(
                "there is no folder {}: start in the repository, or name one with `--results`",
                root.display()
            )));
        }
        let (own, problems) = find(root, READERS)?;
        for problem in problems {
            let line = format!("warning: {}/{problem}", root.display());
            streams.err.line(line);
        }
        records.extend(own);
    }
    let lines = lines(&records);
    let document = document(&lines);
    if args.json {
        let line = json!({"event": "scoreboard", "lines": lines});
        streams.out.line(line.to_string());
    } else {
        streams.show(&document);
    }
    if let Some(folder) = &args.to {
        let file = write_text(folder, "scoreboard.md", &markdown::render(&document))?;
        if !args.json {
            let line = format!("Written to {}", named_together(&[file]));
            streams.out.line(line);
        }
    }
    Ok(End::Complete)
}

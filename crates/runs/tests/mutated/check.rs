//! What must hold of any run folder whatever: called by a test here, and by a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use helmholtz_runs::{
    OpenMode, RunFolder, config_hash, read_checkpoint, read_config, read_metrics,
};
use serde_json::{Value, json};

fn config() -> Value {
    json!({"net": "linear", "seed": 1, "settings": {"epochs": 3}})
}

/// Every file of a run with three checkpoints, of which two are kept.
fn whole() -> &'static [(PathBuf, Vec<u8>)] {
    static WHOLE: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("run");
        let mut run = RunFolder::open(&path, &config(), OpenMode::Resume).expect("a run");
        for epoch in 1..=3u8 {
            let row = json!({"epoch": epoch, "nll": 1.0 / f64::from(epoch)});
            run.append_metrics(&row).expect("room");
            let parts: [(&str, &[u8]); 2] = [("theta", &[epoch; 20]), ("phi", &[7; 3])];
            run.save_checkpoint(&json!({"epoch": epoch}), &parts)
                .expect("room");
        }
        run.finish(&json!({"nll": 0.5})).expect("room");
        drop(run);
        let mut files = Vec::new();
        add(&path, &path, &mut files);
        files.sort();
        files
    })
}

fn add(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add(root, &path, files);
        } else {
            let below = path.strip_prefix(root).expect("below").to_owned();
            files.push((below, fs::read(&path).expect("a file")));
        }
    }
}

/// Puts the right hash over the content of a sealed file, so that what was edited is believed.
fn seal_again(bytes: &mut Vec<u8>) {
    if let Ok(mut value) = serde_json::from_slice::<Value>(bytes)
        && value.get("content").is_some()
        && value.is_object()
    {
        value["sha256"] = config_hash(&value["content"]).into();
        *bytes = value.to_string().into_bytes();
    }
}

/// Edits a whole run folder as these bytes say, looks at it in every way, and opens it. Returns whether it opened.
///
/// The bytes are: flags (1: without the result, 2: seal again) | edits, each a file, an operation, a place and a byte.
///
/// # Panics
/// If a claim fails.
pub fn check(bytes: &[u8]) -> bool {
    let (flags, edits) = bytes.split_first().unwrap_or((&0, &[]));
    let mut files: Vec<(PathBuf, Vec<u8>)> = whole().to_vec();
    if flags & 1 != 0 {
        files.retain(|(path, _)| !path.ends_with("result.json"));
    }
    for edit in edits.as_chunks::<4>().0 {
        let [file, operation, place, byte] = *edit;
        let count = files.len();
        if count == 0 {
            break;
        }
        let (path, content) = &mut files[usize::from(file) % count];
        let at = usize::from(place) * content.len().max(1) / 256;
        match operation % 6 {
            0 | 1 if at < content.len() => content[at] = byte,
            2 => content.truncate(at),
            3 => content.insert(at.min(content.len()), byte),
            // Another number in place of one digit: lengths and counters beyond anything.
            4 => {
                let digit = (at..content.len()).find(|&at| content[at].is_ascii_digit());
                if let Some(at) = digit {
                    content.splice(at..=at, *b"1099511627776");
                }
            }
            5 if byte % 4 == 0 => *path = path.with_extension("gone"),
            _ => {}
        }
        if flags & 2 != 0 {
            seal_again(content);
        }
    }
    let home = tempfile::tempdir().expect("a folder");
    let run = home.path().join("run");
    for (path, content) in &files {
        let path = run.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        fs::write(path, content).expect("room");
    }
    let said = |error: &dyn std::fmt::Display| assert!(error.to_string().len() > 20, "{error}");
    RunFolder::peek(&run).map_or_else(|e| said(&e), drop);
    RunFolder::peek_as(&run, &config()).map_or_else(|e| said(&e), drop);
    read_config(&run).map_or_else(|e| said(&e), drop);
    read_metrics(&run).map_or_else(|e| said(&e), drop);
    read_checkpoint(&run).map_or_else(|e| said(&e), drop);
    match RunFolder::open(&run, &config(), OpenMode::Resume) {
        Ok(mut opened) => {
            // A resealed manifest may say anything of a part that is not there in that length.
            if flags & 2 == 0
                && let Some(checkpoint) = opened.latest_checkpoint().expect("it was just verified")
            {
                let epoch = checkpoint.state["epoch"].as_u64().expect("it was verified");
                assert_eq!(checkpoint.parts["theta"], [epoch as u8; 20]);
            }
            let saved = opened
                .append_metrics(&json!({"epoch": 4}))
                .and_then(|()| opened.save_checkpoint(&json!({"epoch": 4}), &[("theta", b"new")]));
            match saved {
                Ok(()) => {
                    let newest = opened.latest_checkpoint().expect("it was just saved");
                    assert_eq!(newest.expect("it was just saved").parts["theta"], b"new");
                }
                Err(error) => said(&error),
            }
            true
        }
        Err(error) => {
            said(&error);
            false
        }
    }
}

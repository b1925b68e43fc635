//! History of a run: which program trained which part.

use serde::{Deserialize, Serialize};

use crate::{Position, Provenance, Stint};

/// A part of a run, trained by the program of this provenance.
fn stint(by: &Provenance, from: Position, to: Position) -> Stint {
    Stint {
        commit: by.commit.clone(),
        version: by.version.clone(),
        rustc: by.rustc.clone(),
        arithmetic: by.arithmetic,
        device: by.device.clone(),
        cpu_features: by.cpu_features.clone(),
        from,
        to,
    }
}

/// The stints of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct History(pub(crate) Vec<Stint>);

impl History {
    /// Takes in that the run goes on `at` a position by another process. A history that is empty there, as an older
    /// checkpoint's, begins with what that says of itself, `earlier`. Gives the warning that is due where the program or the
    /// machine is another.
    pub(crate) fn resumed(
        &mut self,
        at: Position,
        earlier: Option<&Provenance>,
        now: &Provenance,
    ) -> Option<String> {
        if let (true, Some(earlier)) = (self.0.is_empty(), earlier) {
            self.0.push(stint(earlier, Position::default(), at));
        }
        let changes = self.0.last()?.changes(&stint(now, at, at));
        (!changes.is_empty()).then(|| {
            format!(
                "this run was begun by another program or elsewhere: {}; its numbers may differ in their last bits, and its \
                 provenance names both with what each trained",
                changes.join(", ")
            )
        })
    }

    /// Takes in that `by` has trained up to `to`.
    pub(crate) fn trained(&mut self, by: &Provenance, to: Position) {
        let from = self.0.last().map_or(Position::default(), |last| last.to);
        let now = stint(by, from, to);
        match self.0.last_mut() {
            Some(last) if last.changes(&now).is_empty() => last.to = to,
            _ if from < to => self.0.push(now),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn program(commit: &str, arithmetic: u32) -> Provenance {
        Provenance {
            commit: commit.into(),
            arithmetic,
            ..Provenance::of(&json!(1), 1, "cpu")
        }
    }

    fn at(epochs: u64, steps: u64) -> Position {
        Position { epochs, steps }
    }

    fn parts(history: &History) -> Vec<(&str, u32, Position, Position)> {
        let part = |stint: &Stint| (stint.from, stint.to);
        history
            .0
            .iter()
            .map(|stint| (stint.commit.as_str(), stint.arithmetic, part(stint)))
            .map(|(commit, arithmetic, (from, to))| (commit, arithmetic, from, to))
            .collect()
    }

    #[test]
    fn each_program_has_what_it_trained_and_a_change_of_program_warns() {
        let (a, b) = (program("a", 1), program("b", 2));
        let mut history = History::default();
        assert_eq!(history.resumed(at(0, 0), None, &a), None);
        history.trained(&a, at(1, 0));
        history.trained(&a, at(2, 7));
        assert_eq!(history.resumed(at(2, 7), None, &a), None);
        let warning = history.resumed(at(2, 7), None, &b).unwrap();
        for part in ["commit b instead of a", "arithmetic 2 instead of 1"] {
            assert!(warning.contains(part), "{warning}");
        }
        // Another program that trained nothing has no part.
        history.trained(&b, at(2, 7));
        assert_eq!(history.0.len(), 1);
        history.trained(&b, at(3, 0));
        history.trained(&a, at(4, 0));
        assert_eq!(
            parts(&history),
            [
                ("a", 1, at(0, 0), at(2, 7)),
                ("b", 2, at(2, 7), at(3, 0)),
                ("a", 1, at(3, 0), at(4, 0)),
            ]
        );
    }

    #[test]
    fn an_older_checkpoint_says_who_trained_all_before_it() {
        let mut history = History::default();
        let warning = history.resumed(at(5, 0), Some(&program("old", 1)), &program("new", 2));
        assert!(warning.unwrap().contains("commit new instead of old"));
        history.trained(&program("new", 2), at(6, 0));
        let expected = [
            ("old", 1, at(0, 0), at(5, 0)),
            ("new", 2, at(5, 0), at(6, 0)),
        ];
        assert_eq!(parts(&history), expected);
    }

    #[test]
    fn another_device_compiler_or_feature_set_warns() {
        let here = program("a", 2);
        let mut history = History::default();
        history.trained(&here, at(1, 0));
        for (other, part) in [
            (
                Provenance {
                    device: "cuda".into(),
                    ..here.clone()
                },
                "device cuda instead of cpu",
            ),
            (
                Provenance {
                    rustc: "rustc 9".into(),
                    ..here.clone()
                },
                "compiler rustc 9",
            ),
            (
                Provenance {
                    version: "9".into(),
                    ..here.clone()
                },
                "version 9 instead",
            ),
            (
                Provenance {
                    cpu_features: vec!["sse2".into()],
                    ..here.clone()
                },
                "features [sse2] instead of [",
            ),
        ] {
            let warning = history.resumed(at(1, 0), None, &other).unwrap();
            assert!(warning.contains(part), "{warning}");
        }
        let later = Provenance {
            seconds: 9.0,
            cpu: "other".into(),
            ..here
        };
        assert_eq!(history.resumed(at(1, 0), None, &later), None);
    }
}

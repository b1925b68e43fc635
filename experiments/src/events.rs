//! Events of training, as the harness hears them.

use helmholtz_harness::driver::Event;
use helmholtz_training::Event as Training;
use serde_json::json;

/// Translates an event of a training that is counted in epochs.
pub fn of_epochs(event: &Training) -> Event {
    match event {
        Training::Resumed { epoch, .. } => Event::Resumed { done: *epoch },
        Training::Step {
            epoch,
            step,
            steps_per_epoch,
            ..
        } => Event::Step {
            done: epoch.saturating_sub(1) as f64 + *step as f64 / (*steps_per_epoch).max(1) as f64,
            score: None,
        },
        Training::Evaluating { done, total } => Event::Evaluating {
            part: Some(*done as f64 / (*total).max(1) as f64),
            what: String::new(),
        },
        Training::Check {
            epoch,
            stage,
            valid_nll,
            test_nll,
            seconds,
        } => {
            let test = test_nll.map_or(String::new(), |nll| format!(" test {nll:.2}"));
            Event::Check {
                done: *epoch,
                score: test_nll.or(Some(*valid_nll)),
                text: format!("stage {stage}, NLL valid {valid_nll:.2}{test}"),
                fields: json!({
                    "stage": stage, "valid_nll": valid_nll, "test_nll": test_nll, "seconds": seconds,
                }),
            }
        }
        Training::Trained {
            epoch,
            evaluated,
            total,
        } => Event::Trained {
            done: *epoch,
            part: *evaluated as f64 / (*total).max(1) as f64,
        },
        Training::ChainsStarted { epoch } => Event::Note {
            event: "chains-started",
            fields: json!({"epoch": epoch}),
        },
        Training::Checkpoint { epoch } => Event::Note {
            event: "checkpoint",
            fields: json!({"epoch": epoch}),
        },
        Training::Warning(text) => Event::Warning(text.clone()),
    }
}

/// Translates an event of a training that is counted in gradient steps; its loss is the negative log evidence.
pub fn of_steps(event: &Training) -> Event {
    match event {
        Training::Resumed { step, .. } => Event::Resumed { done: *step },
        Training::Step { step, loss, .. } => Event::Step {
            done: *step as f64,
            score: Some(-loss),
        },
        event => of_epochs(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_the_middle_of_the_third_epoch_is_two_and_a_half() {
        let step = Training::Step {
            epoch: 3,
            step: 50,
            steps_per_epoch: 100,
            loss: 1.0,
        };
        let (done, score) = (2.5, None);
        assert_eq!(of_epochs(&step), Event::Step { done, score });
        let (done, score) = (50.0, Some(-1.0));
        assert_eq!(of_steps(&step), Event::Step { done, score });
    }
}

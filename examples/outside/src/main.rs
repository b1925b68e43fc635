//! A crate outside the workspace: the program with an estimator and a net of its own.

mod median;
mod spikes;

use helmholtz::burn::tensor::DType;
use helmholtz::invariance::gradients::{Subject, certify};
use helmholtz_experiments::Program;
use std::process::ExitCode;

use median::Median;
use spikes::Sizes;

fn main() -> ExitCode {
    let [median, twin] = [false, true].map(|with_own| Median { with_own });
    let (cells, causes) = (4, 3);
    if std::env::args().nth(1).as_deref() == Some("certify") {
        let model = Sizes { cells, causes }.model(1, DType::F64, &Default::default());
        let subject = Subject::enumerated(model, &[1.0, 0.0, 5.0, 2.0]);
        let (right, wrong) = (certify(&median, &subject), certify(&twin, &subject));
        println!("certificate: {right:.2?}\nits twin: {wrong:.2?}");
        assert!(right.holds() && !wrong.holds());
        return ExitCode::SUCCESS;
    }
    let program = Program::new()
        .estimator(median)
        .net("spikes", Sizes { cells, causes });
    program.run()
}

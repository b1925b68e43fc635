//! A crate outside the workspace: the program with an estimator and a net of its own.
mod median;
mod spikes;
use helmholtz::Program;

fn net() -> spikes::Sizes {
    let (cells, causes) = (4, 3);
    spikes::Sizes { cells, causes }
}

fn main() -> std::process::ExitCode {
    let median = median::Median { with_own: false };
    Program::new().estimator(median).net("spikes", net()).run()
}

#[cfg(test)]
mod tests {
    use super::{median::Median, net};
    use helmholtz::invariance::gradients::{Subject, certify};
    #[test]
    fn the_median_of_the_others_is_unbiased_and_that_of_all_is_not() {
        let model = net().model(1, helmholtz::burn::tensor::DType::F64, &Default::default());
        let subject = Subject::enumerated(model, &[1.0, 0.0, 5.0, 2.0]);
        let [right, twin] = [false, true].map(|with_own| certify(&Median { with_own }, &subject));
        assert!(right.holds() && !twin.holds(), "{right:.2?} {twin:.2?}");
    }
}

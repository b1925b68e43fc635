//! The importance-sampled likelihood as a measurement: reproducible, independent of how it is computed, with an honest
//! error, and interruptible. What it measures is proved on enumerable models in the workspace's `tests`.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_datasets::{Data, Images};
use helmholtz_evaluation::{
    Evaluation, LogLikelihoods, Nll, batch_of, log_weights, log_weights_at, nll,
};
use helmholtz_ops::Values;
use helmholtz_random::{Purpose, Stream};
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

fn model() -> Sbn<Flex> {
    let config = SbnConfig {
        visible: 30,
        latent: vec![6, 4],
        hidden: vec![5],
        slope: 0.01,
        learned_prior: false,
        signed: false,
        tanh: false,
        centred: false,
        initialisation: Initialisation::FanIn,
    };
    config.init(1, DType::F32, &Default::default()).unwrap()
}

fn images(count: usize) -> Images {
    let mut stream = Stream::new(1, Purpose::new("images"), [0, 0]);
    Images::from_fn(count, 30, |_, _| stream.below(3) == 0)
}

fn evaluation(samples: usize) -> Evaluation {
    Evaluation {
        samples,
        seed: 1,
        purpose: Purpose::new("test"),
        threads: 1,
    }
}

fn evaluate(images: &Images, evaluation: &Evaluation) -> Nll {
    nll::<Flex, _>(&model(), images, evaluation, &Default::default(), &|_| true).unwrap()
}

#[test]
fn the_result_is_the_same_to_the_bit_whatever_the_threads() {
    // Groups of 10 data and blocks of 25 samples: whole ones, partial ones, fewer groups than threads.
    for (count, samples) in [(1, 1), (9, 26), (40, 25), (53, 60)] {
        let images = images(count);
        let once = evaluate(&images, &evaluation(samples));
        for threads in [1, 2, 3, 7, 100, 0] {
            let again = evaluate(
                &images,
                &Evaluation {
                    threads,
                    ..evaluation(samples)
                },
            );
            let bits = |nll: &Nll| [nll.mean, nll.standard_error, nll.elbo].map(f64::to_bits);
            assert_eq!(
                bits(&again),
                bits(&once),
                "{count} images, {threads} threads"
            );
        }
        assert_eq!((once.images, once.samples), (count, samples));
    }
}

#[test]
fn seeds_and_purposes_name_other_samples() {
    let images = images(20);
    let once = evaluate(&images, &evaluation(5));
    let seed = evaluate(
        &images,
        &Evaluation {
            seed: 2,
            ..evaluation(5)
        },
    );
    let purpose = Purpose::new("valid");
    let purpose = evaluate(
        &images,
        &Evaluation {
            purpose,
            ..evaluation(5)
        },
    );
    assert!(once.mean != seed.mean && once.mean != purpose.mean && seed.mean != purpose.mean);
}

#[test]
fn the_standard_error_is_the_deviation_over_data_by_the_root_of_their_number() {
    // A datum's samples are named by its index, so means over the first n data differ by the n-th one alone.
    let all = images(24);
    let sum_of_first = |n: usize| {
        let first: Vec<u32> = (0..n as u32).collect();
        evaluate(&all.select(&first), &evaluation(30)).mean * n as f64
    };
    let sums: Vec<f64> = (1..=24).map(sum_of_first).collect();
    let each: Vec<f64> = (0..24)
        .map(|n| sums[n] - if n == 0 { 0.0 } else { sums[n - 1] })
        .collect();
    let mean = each.iter().sum::<f64>() / 24.0;
    let squares: f64 = each.iter().map(|nll| (nll - mean).powi(2)).sum();
    let nll = evaluate(&all, &evaluation(30));
    assert!((nll.standard_error / (squares / 23.0 / 24.0).sqrt() - 1.0).abs() < 1e-3);
    assert!(
        evaluate(&images(1), &evaluation(30))
            .standard_error
            .is_infinite()
    );
}

#[test]
fn the_likelihood_is_above_the_bound_and_rises_with_samples() {
    let images = images(50);
    let few = evaluate(&images, &evaluation(1));
    let many = evaluate(&images, &evaluation(400));
    assert!(
        (few.mean + few.elbo).abs() < 1e-12,
        "one sample is the ELBO"
    );
    assert!(many.mean < -many.elbo && many.mean < few.mean);
}

#[test]
fn progress_counts_every_datum_and_can_stop() {
    let images = images(53);
    for threads in [1, 3] {
        let evaluation = Evaluation {
            threads,
            ..evaluation(3)
        };
        let done = AtomicUsize::new(0);
        let count = |n| {
            done.fetch_add(n, Ordering::Relaxed);
            true
        };
        let device = Default::default();
        assert!(nll::<Flex, _>(&model(), &images, &evaluation, &device, &count).is_some());
        assert_eq!(done.into_inner(), 53);
        let asked = AtomicUsize::new(0);
        let stop = |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            false
        };
        assert_eq!(
            nll::<Flex, _>(&model(), &images, &evaluation, &device, &stop),
            None
        );
        assert_eq!(
            asked.into_inner(),
            threads,
            "each thread stops before its first samples"
        );
    }
}

#[test]
fn nothing_to_evaluate_gives_nothing() {
    let device = Default::default();
    let nll = |images: &Images, samples| {
        nll::<Flex, _>(&model(), images, &evaluation(samples), &device, &|_| true)
    };
    assert_eq!(nll(&images(0), 5), None);
    assert_eq!(nll(&images(5), 0), None);
    let (model, images) = (model(), images(5));
    let parts = |samples| {
        let evaluation = evaluation(samples);
        log_weights::<Flex, _>(&model, &images, 1..3, &evaluation, &device, &|_| true)
    };
    assert_eq!(parts(0), None);
    assert_eq!(parts(1).expect("finished").len(), 2);
}

#[test]
fn one_pass_gives_every_number_of_samples_as_if_it_were_alone_to_the_bit() {
    // Ends of blocks, S within the same block and within others, in no order.
    let samples = [100, 7, 1, 25, 26, 24, 63];
    let images = images(23);
    let (model, device) = (model(), Default::default());
    let all = 0..images.len();
    let evaluation = evaluation(0);
    let once = log_weights_at::<Flex, _>(
        &model,
        &images,
        all,
        &evaluation,
        &samples,
        &device,
        &|_| true,
    );
    let once = once.expect("finished");
    let each = Nll::each(&once, &samples);
    let kept = LogLikelihoods::new(&samples, &once);
    let bits = |nll: &Nll| [nll.mean, nll.standard_error, nll.elbo].map(f64::to_bits);
    for (nll, &count) in each.iter().zip(&samples) {
        let alone = evaluate(
            &images,
            &Evaluation {
                samples: count,
                ..evaluation
            },
        );
        assert_eq!(
            (bits(nll), nll.samples, nll.images),
            (bits(&alone), count, 23)
        );
        let of_file = kept.with(count as u64).unwrap();
        assert_eq!(of_file.iter().map(|l| -l).sum::<f64>() / 23.0, alone.mean);
    }
    // No two are the same number by chance.
    let mut means: Vec<u64> = each.iter().map(|nll| nll.mean.to_bits()).collect();
    means.sort_unstable();
    means.dedup();
    assert_eq!(means.len(), samples.len());
}

/// S · mean of w is a sum over samples, so that one sample more adds its own weight, of which the mean of ln w tells the logarithm.
#[test]
fn as_many_samples_are_taken_as_are_asked_for() {
    // The first sample of a block is the same in a block of one; of others the size of the block decides.
    let samples = [25, 26, 50, 51];
    let (model, images, device) = (model(), images(3), Default::default());
    let found = log_weights_at::<Flex, _>(
        &model,
        &images,
        0..3,
        &evaluation(0),
        &samples,
        &device,
        &|_| true,
    );
    let found = found.expect("finished");
    for datum in found.chunks(samples.len()) {
        for (at, pair) in samples.windows(2).enumerate() {
            if pair[1] != pair[0] + 1 {
                continue;
            }
            let [before, after] = [at, at + 1].map(|at| datum[at]);
            let [fewer, more] = [pair[0], pair[1]].map(|count| count as f64);
            let largest = before.log_mean.max(after.log_mean);
            let weight =
                more * (after.log_mean - largest).exp() - fewer * (before.log_mean - largest).exp();
            let own = more * after.mean_log - fewer * before.mean_log;
            assert!((weight.ln() + largest - own).abs() < 1e-6, "{pair:?}");
        }
    }
}

#[test]
fn data_of_bits_are_packed_and_no_data_are_no_rows() {
    let (images, device) = (images(5), Default::default());
    let some = batch_of::<Flex>(&images, 1..4, &device);
    assert!(matches!(some, Values::Bits(_)));
    let numbers: Vec<f32> = some.numbers().into_data().iter().collect();
    let mut expected = vec![0.0; 3 * 30];
    for (row, out) in (1..4).zip(expected.chunks_mut(30)) {
        images.write_row(row, out);
    }
    assert_eq!(numbers, expected);
    assert_eq!(batch_of::<Flex>(&images, 0..0, &device).dims(), [0, 30]);
}

//! Weights and densities of the one-shot proposal and of each block against loops over pixels.

use burn_flex::Flex;
use helmholtz_apg::{Block, Model, OneShot, Rescore, Update};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tracker::{Alignment, Law, Tracker, TrackerState, Video, What, Where};

use crate::by_hand::{ByHand, Position, config, model, read, template, tensor};

pub const PARTICLES: usize = 3;
const INSTANCES: usize = 2;
const FRAMES: usize = 3;
pub const DIGITS: usize = 2;

pub fn stream(at: u64) -> Stream {
    Stream::new(11, Purpose::new("tests"), [at, 0])
}

pub fn video() -> Video<Flex> {
    let mut chance = stream(1);
    let pixels = (0..INSTANCES * FRAMES * 81)
        .map(|_| chance.uniform_f64())
        .collect();
    Video {
        frames: tensor(pixels, [INSTANCES, FRAMES, 81]),
        digits: DIGITS,
    }
}

pub fn frames(video: &Video<Flex>, b: usize) -> Vec<Vec<f64>> {
    let pixels = read(video.frames.clone());
    let own = pixels.chunks(81).skip(b * FRAMES).take(FRAMES);
    own.map(<[f64]>::to_vec).collect()
}

/// Positions `[T][D]` and appearances `[D]` of particle l of instance b.
pub fn latents(
    state: &TrackerState<Flex>,
    l: usize,
    b: usize,
) -> (Vec<Vec<Position>>, Vec<Vec<f64>>) {
    let group = l * INSTANCES + b;
    let position = read(state.position.clone());
    let own = &position[group * FRAMES * DIGITS * 2..][..FRAMES * DIGITS * 2];
    let paths = own.chunks(DIGITS * 2);
    let paths = paths.map(|frame| frame.chunks(2).map(|z| [z[0], z[1]]).collect());
    let appearance = read(state.appearance.clone());
    let own = &appearance[group * DIGITS * 3..][..DIGITS * 3];
    (
        paths.collect(),
        own.chunks(3).map(<[f64]>::to_vec).collect(),
    )
}

fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
        "{found}, {expected}"
    );
}

/// Proposed particles, of which some digits overlap and some cross the border.
fn start(model: &Tracker<Flex>, video: &Video<Flex>) -> TrackerState<Flex> {
    OneShot::propose(model, video, PARTICLES, &mut stream(2)).state
}

pub fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..PARTICLES).flat_map(|l| (0..INSTANCES).map(move |b| (l, b)))
}

#[test]
fn the_one_shot_proposal_and_the_joint_density_are_the_sums_by_hand() {
    for alignment in [Alignment::PixelCentre, Alignment::Corner] {
        let (config, video) = (config(alignment), video());
        let model = model(&config);
        let hand = ByHand::new(&model, &config);
        let proposal = OneShot::propose(&model, &video, PARTICLES, &mut stream(2));
        let (log_q, log_p) = (
            read(proposal.log_q),
            model.log_joint(&video, &proposal.state),
        );
        let log_p = read(log_p);
        let mean: Vec<f64> = template().into_iter().map(f64::from).collect();
        let templates = vec![mean; DIGITS];
        for (l, b) in pairs() {
            let (frames, (paths, appearances)) =
                (frames(&video, b), latents(&proposal.state, l, b));
            let positions = frames.iter().zip(&paths);
            let log_where: f64 = positions
                .map(|(frame, positions)| hand.log_where(frame, &templates, positions))
                .sum();
            let log_what = hand.log_what(&frames, &paths, &appearances);
            assert_close(log_q[l * INSTANCES + b], log_where + log_what);
            let expected = hand.log_joint(&frames, &paths, &appearances);
            assert_close(log_p[l * INSTANCES + b], expected);
        }
    }
}

/// Rule (2) with the whole joint density, which knows nothing of which factors a block leaves out.
#[test]
fn the_weight_of_each_frame_is_the_ratio_of_whole_densities() {
    for alignment in [Alignment::PixelCentre, Alignment::Corner] {
        let (config, video) = (config(alignment), video());
        let model = model(&config);
        let hand = ByHand::new(&model, &config);
        let old = start(&model, &video);
        for frame in 0..FRAMES {
            let block = Where { frame };
            let moved = block.advance(&model, &model, &video, &old, &mut stream(3));
            let (log_v, log_f) = (read(moved.log_v), read(moved.log_forward));
            for (l, b) in pairs() {
                let frames = frames(&video, b);
                let (before, appearances) = latents(&old, l, b);
                let (after, same) = latents(&moved.state, l, b);
                assert_eq!(appearances, same);
                let others = (0..FRAMES).filter(|&t| t != frame);
                others.for_each(|t| assert_eq!(before[t], after[t]));
                assert_ne!(before[frame], after[frame]);
                let templates: Vec<Vec<f64>> = appearances.iter().map(|w| hand.decode(w)).collect();
                let log_q =
                    |z: &[Vec<Position>]| hand.log_where(&frames[frame], &templates, &z[frame]);
                let log_p = |z: &[Vec<Position>]| hand.log_joint(&frames, z, &appearances);
                let expected = log_p(&after) - log_p(&before) + log_q(&before) - log_q(&after);
                assert_close(log_v[l * INSTANCES + b], expected);
                assert_close(log_f[l * INSTANCES + b], log_q(&after));
            }
        }
    }
}

#[test]
fn the_weight_of_appearances_is_the_ratio_of_whole_densities() {
    let (config, video) = (config(Alignment::PixelCentre), video());
    let model = model(&config);
    let hand = ByHand::new(&model, &config);
    let old = start(&model, &video);
    for law in [Law::Learned, Law::Prior] {
        let moved = Update(What(law)).advance(&model, &model, &video, &old, &mut stream(4));
        let log_v = read(moved.log_v);
        for (l, b) in pairs() {
            let frames = frames(&video, b);
            let ((paths, before), (same, after)) =
                (latents(&old, l, b), latents(&moved.state, l, b));
            assert_eq!(paths, same);
            let log_q = |w: &[Vec<f64>]| match law {
                Law::Learned => hand.log_what(&frames, &paths, w),
                Law::Prior => {
                    let terms = w.iter().flatten();
                    terms
                        .map(|&w| crate::by_hand::log_normal(w, 0.0, 1.0))
                        .sum()
                }
            };
            let log_p = |w: &[Vec<f64>]| hand.log_joint(&frames, &paths, w);
            let expected = log_p(&after) - log_p(&before) + log_q(&before) - log_q(&after);
            assert_close(log_v[l * INSTANCES + b], expected);
        }
    }
}

/// The released code's defects 8.18 and 8.20, and the digit that is searched for in the whole frame: each changes the weight.
#[test]
fn a_weight_without_a_factor_is_another() {
    let (config, video) = (config(Alignment::PixelCentre), video());
    let model = model(&config);
    let hand = ByHand::new(&model, &config);
    let old = start(&model, &video);
    let moved = Where { frame: 1 }.advance(&model, &model, &video, &old, &mut stream(3));
    let log_v = read(moved.log_v)[0];
    let frames = frames(&video, 0);
    let ((before, w), (after, _)) = (latents(&old, 0, 0), latents(&moved.state, 0, 0));
    let templates: Vec<Vec<f64>> = w.iter().map(|w| hand.decode(w)).collect();
    let log_q = |z: &[Vec<Position>]| hand.log_where(&frames[1], &templates, &z[1]);
    // Without the step to the next frame: the density of the first two frames.
    let log_p = |z: &[Vec<Position>]| hand.log_joint(&frames[..2], &z[..2], &w);
    let dropped = log_p(&after) - log_p(&before) + log_q(&before) - log_q(&after);
    assert!((dropped - log_v).abs() > 1e-3);
    // Each digit searched for as if it were the first.
    let alone = |z: &[Vec<Position>]| -> f64 {
        let digits = z[1].iter().zip(&templates);
        digits
            .map(|(z, template)| hand.log_where(&frames[1], std::slice::from_ref(template), &[*z]))
            .sum()
    };
    let log_p = |z: &[Vec<Position>]| hand.log_joint(&frames, z, &w);
    let whole = log_p(&after) - log_p(&before) + alone(&before) - alone(&after);
    assert!((whole - log_v).abs() > 1e-5, "{whole}, {log_v}");
}

#[test]
fn the_density_of_the_one_shot_proposal_is_that_of_its_draws() {
    let (model, x) = (model(&config(Alignment::PixelCentre)), video());
    let proposal = model.propose(&x, PARTICLES, &mut stream(6));
    let again = read(model.log_one_shot(&x, &proposal.state));
    for (found, again) in read(proposal.log_q).into_iter().zip(again) {
        assert!((found / again - 1.0).abs() < 1e-12, "{found} {again}");
    }
}

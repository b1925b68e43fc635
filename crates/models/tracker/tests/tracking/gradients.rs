//! Test 15: the gradients of blocks' log-densities by finite differences of loops over pixels, with none for other nets.

use std::ops::Range;

use burn::backend::Autodiff;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_apg::{Block, Move, OneShot, Update};
use helmholtz_tracker::{Alignment, Law, Tracker, TrackerState, Video, What, Where};

use crate::blocks::{DIGITS, PARTICLES, frames, latents, pairs, stream, video};
use crate::by_hand::{ByHand, Position, config, model, read, template};

type A = Autodiff<Flex>;
type Gradients = <A as AutodiffBackend>::Gradients;

/// Layers of the nets for positions, for appearances, and of the decoder.
const LOCATE: Range<usize> = 0..5;
const IDENTIFY: Range<usize> = 5..9;
const DECODER: Range<usize> = 9..12;

fn learner() -> Tracker<A> {
    let config = config(Alignment::PixelCentre);
    let model = config.init(3, &template(), DType::F64, &Default::default());
    model.expect("a tracker")
}

fn hand() -> ByHand {
    let config = config(Alignment::PixelCentre);
    ByHand::new(&model(&config), &config)
}

fn observed() -> Video<A> {
    Video {
        frames: Tensor::from_inner(video().frames),
        digits: DIGITS,
    }
}

fn start() -> TrackerState<A> {
    OneShot::propose(&learner(), &observed(), PARTICLES, &mut stream(2)).state
}

fn inner(state: &TrackerState<A>) -> TrackerState<Flex> {
    TrackerState {
        position: state.position.clone().inner(),
        appearance: state.appearance.clone().inner(),
    }
}

/// The gradients of each layer, the weights row by row, then the biases; none where the tape has none.
struct Layers<'a> {
    gradients: &'a Gradients,
    found: Vec<Vec<Option<f64>>>,
}

impl ModuleVisitor<A> for Layers<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<A, D>>) {
        let value = param.val();
        let own = match value.grad(self.gradients) {
            Some(gradient) => read(gradient).into_iter().map(Some).collect(),
            None => vec![None; value.shape().num_elements()],
        };
        match D {
            2 => self.found.push(own),
            _ => self.found.last_mut().expect("a weight").extend(own),
        }
    }
}

/// Holds the gradients of a sum to differences of `f` at every third parameter of the layers `own`; all others have none.
fn assert_gradient(
    loss: impl Fn(&Tracker<A>) -> Tensor<A, 3>,
    own: Range<usize>,
    f: impl Fn(&ByHand) -> f64,
) {
    let model = learner();
    let gradients = loss(&model).sum().backward();
    let mut layers = Layers {
        gradients: &gradients,
        found: vec![],
    };
    model.visit(&mut layers);
    let hand = hand();
    let mut learns = false;
    for (at, layer) in layers.found.iter().enumerate() {
        for (parameter, &found) in layer.iter().enumerate() {
            if !own.contains(&at) {
                assert!(
                    found.is_none_or(|g| g == 0.0),
                    "layer {at} is of another net"
                );
            } else if parameter % 3 == 0 {
                let moved = |step| f(&hand.moved(at, parameter, step).expect("a parameter"));
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let found = found.expect("a gradient");
                let bound = 2e-6 * expected.abs().max(1.0);
                assert!(
                    (found - expected).abs() < bound,
                    "layer {at}, {parameter}: {found}, {expected}"
                );
                learns |= found.abs() > 1e-3;
            }
        }
    }
    assert!(learns, "nothing is learned");
}

fn moved(
    block: &impl Block<A, Tracker<A>, helmholtz_random::Stream>,
    model: &Tracker<A>,
) -> Move<A, TrackerState<A>> {
    block.advance(model, model, &observed(), &start(), &mut stream(3))
}

const BLOCK: Where = Where { frame: 1 };

/// Holds the gradient of the forward density of positions to that of these ones.
fn assert_gradient_of_positions(state: &TrackerState<Flex>) {
    let (video, fixed) = (video(), hand());
    assert_gradient(
        |model| moved(&BLOCK, model).log_forward,
        LOCATE,
        |hand| {
            let terms = pairs().map(|(l, b)| {
                let (paths, appearances) = latents(state, l, b);
                let templates: Vec<_> = appearances.iter().map(|w| fixed.decode(w)).collect();
                hand.log_where(&frames(&video, b)[1], &templates, &paths[1])
            });
            terms.sum()
        },
    );
}

#[test]
#[should_panic(expected = "layer 0")]
fn test_15_the_positions_before_teach_something_else() {
    assert_gradient_of_positions(&inner(&start()));
}

/// Templates are decoded by the learner, and its proposal must not teach it: correlations with them carry no gradient.
#[test]
fn test_15_positions_teach_their_nets_and_their_likelihood_the_decoder() {
    let video = video();
    let after = inner(&moved(&BLOCK, &learner()).state);
    assert_gradient_of_positions(&after);
    assert_gradient(
        |model| moved(&BLOCK, model).log_target,
        DECODER,
        |hand| {
            let terms = pairs().map(|(l, b)| {
                let (paths, appearances) = latents(&after, l, b);
                hand.log_joint(&frames(&video, b)[1..2], &paths[1..2], &appearances)
            });
            terms.sum()
        },
    );
}

/// A log-density of frames, paths and appearances.
type Log<'a> = dyn Fn(&[Vec<f64>], &[Vec<Position>], &[Vec<f64>]) -> f64 + 'a;

#[test]
fn test_15_appearances_teach_their_net_and_their_likelihood_the_decoder() {
    let (block, video) = (Update(What(Law::Learned)), video());
    let after = inner(&moved(&block, &learner()).state);
    let each = |log: &Log<'_>| {
        let terms = pairs().map(|(l, b)| {
            let (paths, appearances) = latents(&after, l, b);
            log(&frames(&video, b), &paths, &appearances)
        });
        terms.sum::<f64>()
    };
    assert_gradient(
        |model| moved(&block, model).log_forward,
        IDENTIFY,
        |hand| each(&|x, z, w| hand.log_what(x, z, w)),
    );
    assert_gradient(
        |model| moved(&block, model).log_target,
        DECODER,
        |hand| each(&|x, z, w| hand.log_joint(x, z, w)),
    );
}

#[test]
fn test_15_the_one_shot_proposal_teaches_both_its_nets() {
    let (state, video) = (inner(&start()), video());
    let mean: Vec<f64> = template().into_iter().map(f64::from).collect();
    let templates = vec![mean; DIGITS];
    assert_gradient(
        |model| {
            let proposal = OneShot::propose(model, &observed(), PARTICLES, &mut stream(2));
            proposal.log_q.unsqueeze_dim(2)
        },
        LOCATE.start..IDENTIFY.end,
        |hand| {
            let terms = pairs().map(|(l, b)| {
                let (paths, appearances) = latents(&state, l, b);
                let frames = frames(&video, b);
                let positions = frames.iter().zip(&paths);
                let log_where = positions.map(|(x, z)| hand.log_where(x, &templates, z));
                log_where.sum::<f64>() + hand.log_what(&frames, &paths, &appearances)
            });
            terms.sum()
        },
    );
}

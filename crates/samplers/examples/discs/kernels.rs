//! Every kernel on discrete sites, with what is tuned found and frozen.

use std::sync::atomic::{AtomicUsize, Ordering};

use helmholtz_samplers::random::{Chance, Stream};
use helmholtz_samplers::{
    AutomaticCycle, BlockGibbs, DifferenceTarget, DiscreteLangevin, HammingBall, Info, Kernel,
    LocallyBalanced, PathAuxiliary, SamplerError, Target, balancing_functions,
};

use crate::models::Model;

/// A model as a target of several kernels.
#[derive(Clone, Copy)]
pub struct Of<'a>(pub &'a dyn Model);

impl DifferenceTarget<u8> for Of<'_> {
    fn values(&self) -> usize {
        self.0.values()
    }

    fn log_density(&self, x: &[u8]) -> f64 {
        self.0.log_density(x)
    }

    fn log_density_and_differences(&self, x: &[u8], differences: &mut [f64]) -> f64 {
        self.0.log_density_and_differences(x, differences)
    }

    fn log_density_ratio_and_differences(
        &self,
        from: &[u8],
        to: &[u8],
        changes: &[usize],
        sites: &mut Vec<usize>,
        differences: &mut Vec<f64>,
    ) -> Option<f64> {
        self.0
            .log_density_ratio_and_differences(from, to, changes, sites, differences)
    }
}

/// A model by the terms of some sites.
#[derive(Clone)]
struct Block<'a>(&'a dyn Model, Vec<usize>);

impl Target<Vec<u8>> for Block<'_> {
    fn log_density(&self, x: &Vec<u8>) -> f64 {
        self.0.log_density_of_block(x, &self.1)
    }
}

/// Single-site Gibbs sampling of all sites in order.
pub struct Sweep<'a>(pub &'a dyn Model);

impl Kernel<Vec<u8>, Stream> for Sweep<'_> {
    type Info = Info;

    fn step(&self, x: &mut Vec<u8>, chance: &mut Stream) -> Info {
        let mut weights = vec![0.0; self.0.values()];
        for i in 0..x.len() {
            self.0.conditional(x, i, &mut weights);
            x[i] = chance.choose(&weights).map_or(x[i], |v| v as u8);
        }
        Info::default()
    }
}

/// One site of a [`Sweep`] a step, in order.
struct OneSite<'a>(&'a dyn Model, AtomicUsize);

impl Kernel<Vec<u8>, Stream> for OneSite<'_> {
    type Info = Info;

    fn step(&self, x: &mut Vec<u8>, chance: &mut Stream) -> Info {
        let i = self.1.fetch_add(1, Ordering::Relaxed) % x.len();
        let mut weights = vec![0.0; self.0.values()];
        self.0.conditional(x, i, &mut weights);
        x[i] = chance.choose(&weights).map_or(x[i], |v| v as u8);
        Info::default()
    }
}

/// One of its kernels a step, in order.
struct InTurn<K>(Vec<K>, AtomicUsize);

impl<K: Kernel<Vec<u8>, Stream, Info = Info>> Kernel<Vec<u8>, Stream> for InTurn<K> {
    type Info = Info;

    fn step(&self, x: &mut Vec<u8>, chance: &mut Stream) -> Info {
        let turn = self.1.fetch_add(1, Ordering::Relaxed) % self.0.len();
        self.0[turn].step(x, chance)
    }
}

/// A kernel of `of` for each block of so many sites.
fn blocks<'a, K>(
    model: &'a dyn Model,
    size: usize,
    of: impl Fn(Block<'a>, Vec<usize>) -> K,
) -> InTurn<K> {
    let starts = (0..model.sites()).step_by(size);
    let block = |start: usize| (start..(start + size).min(model.sites())).collect();
    let blocks = starts
        .map(block)
        .map(|b: Vec<usize>| of(Block(model, b.clone()), b));
    InTurn(blocks.collect(), AtomicUsize::new(0))
}

pub type Boxed<'a> = Box<dyn Kernel<Vec<u8>, Stream, Info = Info> + 'a>;

/// Makes a kernel of a model, and tunes it in so many steps from a state.
type Build =
    for<'a> fn(&'a dyn Model, &mut Vec<u8>, usize, &mut Stream) -> Result<Boxed<'a>, SamplerError>;

/// One kernel of the comparison.
pub struct Entry {
    pub name: &'static str,
    /// The sampler of DISCS that does the same; none if it has none.
    pub of_discs: Option<&'static str>,
    /// How many steps are taken where the kernels that look at all sites take one.
    pub steps: usize,
    /// Evaluations of all differences a step, of so many sites; a sweep of single sites counts as one.
    pub evaluations: fn(usize) -> f64,
    pub build: Build,
}

/// Moves of the automatic cycle.
const SCALES: usize = 8;

/// Steps of a kernel on a site or a block, for one of the others.
const SMALL_STEPS: usize = 10;

/// All of them. What is tuned is tuned in so many steps, from the state.
pub const ENTRIES: [Entry; 9] = [
    Entry {
        name: "Gibbs, one site",
        of_discs: Some("gibbs"),
        steps: SMALL_STEPS,
        evaluations: |sites| 1.0 / sites as f64,
        build: |model, _, _, _| Ok(Box::new(OneSite(model, AtomicUsize::new(0)))),
    },
    Entry {
        name: "Gibbs, a sweep",
        of_discs: None,
        steps: 1,
        evaluations: |_| 1.0,
        build: |model, _, _, _| Ok(Box::new(Sweep(model))),
    },
    Entry {
        name: "block Gibbs, 2 sites",
        of_discs: Some("blockgibbs"),
        steps: SMALL_STEPS,
        evaluations: |sites| 2.0 / sites as f64,
        build: |model, _, _, _| {
            let values: Vec<u8> = (0..model.values() as u8).collect();
            let of = move |target, block| BlockGibbs::new(target, block, values.clone());
            Ok(Box::new(blocks(model, 2, of)))
        },
    },
    Entry {
        name: "Hamming ball, 10 sites",
        of_discs: Some("hammingball"),
        steps: SMALL_STEPS,
        evaluations: |sites| 10.0 / sites as f64,
        build: |model, _, _, _| {
            let of = |target, block| HammingBall::new(target, block, model.values(), 1);
            Ok(Box::new(blocks(model, 10, of)))
        },
    },
    Entry {
        name: "Gibbs with gradients",
        of_discs: Some("gwg"),
        steps: 1,
        evaluations: |_| 1.0,
        build: |model, _, _, _| Ok(Box::new(LocallyBalanced::gibbs_with_gradients(Of(model)))),
    },
    Entry {
        name: "locally balanced, Barker",
        of_discs: None,
        steps: 1,
        evaluations: |_| 1.0,
        build: |model, _, _, _| {
            let g = balancing_functions::barker;
            Ok(Box::new(LocallyBalanced::new(Of(model), g)))
        },
    },
    Entry {
        name: "path auxiliary",
        of_discs: Some("path_auxiliary"),
        steps: 1,
        evaluations: |_| 1.0,
        build: |model, x, steps, stream| {
            let g: fn(f64) -> f64 = balancing_functions::square_root;
            let kernel = PathAuxiliary::new(Of(model), g, 1.0)?;
            Ok(Box::new(kernel.warm_up(OPTIMAL, steps, x, stream)?))
        },
    },
    Entry {
        name: "DMALA",
        of_discs: Some("dmala"),
        steps: 1,
        evaluations: |_| 1.0,
        build: |model, x, steps, stream| {
            let kernel = DiscreteLangevin::new(Of(model), 0.2)?;
            Ok(Box::new(kernel.warm_up(OPTIMAL, steps, x, stream)?))
        },
    },
    Entry {
        name: "automatic cycle",
        of_discs: None,
        steps: 1,
        evaluations: |_| SCALES as f64,
        build: |model, x, steps, stream| {
            let cycle = AutomaticCycle::warm_up(Of(model), SCALES, steps, x, stream)?;
            Ok(Box::new(cycle))
        },
    },
];

/// The acceptance that DISCS tunes to.
const OPTIMAL: f64 = 0.574;

//! Where the draws of a run come from.

use std::fmt;

use helmholtz_random::{Enumerator, Purpose, Stream};

/// A place in a run: sweep 0 is the one-shot proposal, and blocks count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The sweep.
    pub sweep: usize,
    /// The block of the sweep.
    pub block: usize,
}

/// The draws for proposals.
pub const PROPOSE: Purpose = Purpose::new("propose");
/// The draws for ancestors.
pub const RESAMPLE: Purpose = Purpose::new("resample");

/// A source of chance for every place of a run; its `Display` says which run, for errors.
pub trait Randomness: fmt::Display {
    /// What is drawn from.
    type Chance: ?Sized;

    /// The chance for this purpose, [`PROPOSE`] or [`RESAMPLE`], at this place.
    fn at(&mut self, purpose: Purpose, position: Position) -> &mut Self::Chance;
}

/// Keyed streams: one for each purpose, step, part, sweep and block of the run with this seed. A draw does not depend on how many
/// were made elsewhere.
#[derive(Clone, Debug)]
pub struct Streams {
    seed: u64,
    step: u64,
    part: u64,
    current: Stream,
    name: Option<String>,
}

impl Streams {
    /// The streams of a training step, or of a batch of an evaluation.
    pub fn new(seed: u64, step: u64) -> Self {
        let current = Stream::new(seed, PROPOSE, [step, 0]);
        Self {
            seed,
            step,
            part: 0,
            current,
            name: None,
        }
    }

    /// Those of a part of the batch, below 2¹⁶.
    pub fn part(self, part: usize) -> Self {
        Self {
            part: part as u64,
            ..self
        }
    }

    /// With what errors call the run, where it is no training step.
    pub fn named(self, name: String) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }
}

impl Randomness for Streams {
    type Chance = Stream;

    fn at(&mut self, purpose: Purpose, position: Position) -> &mut Stream {
        let position = self.part << 48 | (position.sweep as u64) << 16 | position.block as u64;
        self.current = Stream::new(self.seed, purpose, [self.step, position]);
        &mut self.current
    }
}

impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None if self.part == 0 => write!(f, "step {}, seed {}", self.step, self.seed),
            None => {
                let Self {
                    step, part, seed, ..
                } = self;
                write!(f, "step {step}, part {part}, seed {seed}")
            }
        }
    }
}

/// Every branch, for proofs about discrete models.
#[derive(Debug)]
pub struct AllBranches<'a>(pub &'a mut Enumerator);

impl Randomness for AllBranches<'_> {
    type Chance = Enumerator;

    fn at(&mut self, _: Purpose, _: Position) -> &mut Enumerator {
        self.0
    }
}

impl fmt::Display for AllBranches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "enumerated")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_place_of_every_part_has_a_stream_of_its_own() {
        let mut drawn = HashSet::new();
        let ends = [0, 1, 2, 255];
        for part in ends {
            for sweep in ends {
                for block in ends {
                    for purpose in [PROPOSE, RESAMPLE] {
                        let mut streams = Streams::new(3, 8).part(part);
                        let chance = streams.at(purpose, Position { sweep, block });
                        drawn.insert(chance.uniform_f64().to_bits());
                    }
                }
            }
        }
        assert_eq!(drawn.len(), 2 * 4usize.pow(3));
    }

    #[test]
    fn errors_say_which_run_it_was() {
        let streams = Streams::new(3, 8);
        assert_eq!(streams.to_string(), "step 8, seed 3");
        assert_eq!(
            streams.clone().part(2).to_string(),
            "step 8, part 2, seed 3"
        );
        assert_eq!(streams.named("a check".into()).to_string(), "a check");
        let all = |chance: &mut Enumerator| vec![AllBranches(chance).to_string().len() as f64];
        assert_eq!(
            helmholtz_invariance::expectation(all),
            ["enumerated".len() as f64]
        );
    }
}

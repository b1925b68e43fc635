//! Populations and reports of steps as bytes.

use super::{Population, Smc, StepInfo, Tempered, TemperedInfo, TemperedPath};
use crate::sampling::Record;

/// Takes the first bytes off, with their number before them.
fn part<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

fn write_part(part: &impl Record, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend([0; 8]);
    part.write(bytes);
    let length = (bytes.len() - start - 8) as u64;
    bytes[start..start + 8].copy_from_slice(&length.to_le_bytes());
}

fn number(bytes: &mut &[u8]) -> Option<f64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*number))
}

/// log Ẑ, the log-weights, and each state after its length.
impl<S: Record> Record for Population<S> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.log_evidence().write(bytes);
        write_part(&self.log_weights().to_vec(), bytes);
        (self.states().iter()).for_each(|state| write_part(state, bytes));
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        let log_evidence = number(&mut bytes)?;
        let log_weights = Vec::read(part(&mut bytes)?)?;
        let mut states = Vec::with_capacity(log_weights.len());
        while !bytes.is_empty() {
            states.push(S::read(part(&mut bytes)?)?);
        }
        (states.len() == log_weights.len() && !states.is_empty())
            .then(|| Self::of_parts(states, log_weights, log_evidence))
    }
}

/// Empty without ancestors, which are never none.
fn write_ancestors(ancestors: &Option<Vec<u32>>, bytes: &mut Vec<u8>) {
    let ancestors = ancestors.as_deref().unwrap_or_default();
    bytes.extend((ancestors.len() as u64).to_le_bytes());
    ancestors.iter().for_each(|a| bytes.extend(a.to_le_bytes()));
}

fn ancestors(bytes: &mut &[u8]) -> Option<Option<Vec<u32>>> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (own, rest) = rest.split_at_checked(length.checked_mul(4)?)?;
    *bytes = rest;
    let ancestors = own.as_chunks().0.iter().map(|a| u32::from_le_bytes(*a));
    Some((length > 0).then(|| ancestors.collect()))
}

impl Record for StepInfo {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.ess.write(bytes);
        self.log_increment.write(bytes);
        write_ancestors(&self.ancestors, bytes);
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        let read = Self {
            ess: number(&mut bytes)?,
            log_increment: number(&mut bytes)?,
            ancestors: ancestors(&mut bytes)?,
        };
        bytes.is_empty().then_some(read)
    }
}

impl<I: Record> Record for TemperedInfo<I> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.beta.write(bytes);
        self.ess.write(bytes);
        self.log_increment.write(bytes);
        write_ancestors(&self.ancestors, bytes);
        self.moves.write(bytes);
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        Some(Self {
            beta: number(&mut bytes)?,
            ess: number(&mut bytes)?,
            log_increment: number(&mut bytes)?,
            ancestors: ancestors(&mut bytes)?,
            moves: Vec::read(bytes)?,
        })
    }
}

impl<'a, S, P, T, R> Tempered<'a, S, P, T, R>
where
    S: Clone + Record,
    P: Fn(&S) -> f64,
    T: Fn(&S) -> f64,
{
    /// β and the population: the rest is computed from them.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        self.beta().write(bytes);
        self.population().write(bytes);
    }

    pub(super) fn read(
        path: &'a TemperedPath<P, T>,
        smc: Smc<R>,
        mut bytes: &[u8],
    ) -> Option<Self> {
        let beta = number(&mut bytes)?;
        let population = Population::read(bytes)?;
        Some(Self::of_parts(path, smc, population, beta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Info;

    #[track_caller]
    fn comes_back<T: Record + PartialEq + std::fmt::Debug>(whole: T) {
        let mut bytes = Vec::new();
        whole.write(&mut bytes);
        assert_eq!(T::read(&bytes).as_ref(), Some(&whole));
        for length in 0..bytes.len() {
            assert_eq!(T::read(&bytes[..length]), None, "cut at {length}");
        }
        bytes.push(1);
        assert_eq!(T::read(&bytes), None);
    }

    #[test]
    fn populations_and_reports_come_back() {
        let states = vec![vec![0.1, -0.0], vec![], vec![3.0]];
        let weights = vec![-1.0, f64::NEG_INFINITY, 0.3];
        comes_back(Population::new(states, weights).unwrap());
        for ancestors in [None, Some(vec![2, 0, 0])] {
            comes_back(StepInfo {
                ess: 1.5,
                log_increment: -0.25,
                ancestors: ancestors.clone(),
            });
            comes_back(TemperedInfo {
                beta: 0.5,
                ess: 1.5,
                log_increment: -0.25,
                ancestors,
                moves: vec![Info {
                    moves: 3,
                    accepted: 1,
                    ess: 0.5,
                    ..Info::default()
                }],
            });
        }
    }
}

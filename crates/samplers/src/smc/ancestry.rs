//! Who descends from whom.

use crate::SamplerError;

/// The genealogy of a population: the ancestor indices of each generation that was resampled.
///
/// A generation is the population after one step; generation 0 is the first. Memory is one `u32` a particle for each
/// generation that was resampled, none for the others.
///
/// ```
/// use helmholtz_samplers::smc::Ancestry;
/// let mut ancestry = Ancestry::new(3);
/// ancestry.push(Some(vec![0, 2, 2]))?;
/// ancestry.push(None)?; // a step without resampling
/// ancestry.push(Some(vec![1, 1, 0]))?;
/// assert_eq!(ancestry.lineage(0), Some(vec![2, 1, 1, 0])); // by generation
/// assert_eq!(ancestry.roots(), [2, 2, 0]);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestry {
    particles: usize,
    /// From generation 1 on; `None` where each particle continues itself.
    generations: Vec<Option<Vec<u32>>>,
}

impl Ancestry {
    /// The genealogy of `particles` particles at generation 0.
    pub fn new(particles: usize) -> Self {
        Self {
            particles,
            generations: Vec::new(),
        }
    }

    /// The next generation, with the ancestor of each particle in the one before, or `None` if it was not resampled:
    /// [`StepInfo::ancestors`](super::StepInfo::ancestors).
    ///
    /// # Errors
    /// [`SamplerError::Length`] for another number of particles, [`SamplerError::Ancestor`] for an ancestor that does
    /// not exist.
    pub fn push(&mut self, ancestors: Option<Vec<u32>>) -> Result<(), SamplerError> {
        if let Some(ancestors) = &ancestors {
            if ancestors.len() != self.particles {
                return Err(SamplerError::Length {
                    what: "a generation of ancestors",
                    found: ancestors.len(),
                    expected: self.particles,
                });
            }
            if let Some(&ancestor) = ancestors.iter().find(|&&a| a as usize >= self.particles) {
                return Err(SamplerError::Ancestor {
                    ancestor,
                    particles: self.particles,
                });
            }
        }
        self.generations.push(ancestors);
        Ok(())
    }

    /// The indices, by generation from the first to the last, of the particles that led to `particle` of the last;
    /// `None` if there is no such particle.
    pub fn lineage(&self, particle: u32) -> Option<Vec<u32>> {
        if particle as usize >= self.particles {
            return None;
        }
        let mut lineage = vec![particle];
        let mut at = particle;
        for generation in self.generations.iter().rev() {
            if let Some(ancestors) = generation {
                at = ancestors[at as usize];
            }
            lineage.push(at);
        }
        lineage.reverse();
        Some(lineage)
    }

    /// How often the population was resampled.
    pub fn resamplings(&self) -> usize {
        self.generations.iter().flatten().count()
    }

    /// For each particle of the last generation, its ancestor in generation 0. Few distinct ones mean that averages over
    /// paths are poor.
    pub fn roots(&self) -> Vec<u32> {
        let mut roots: Vec<u32> = (0..self.particles as u32).collect();
        for ancestors in self.generations.iter().flatten() {
            roots = ancestors.iter().map(|&a| roots[a as usize]).collect();
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_generation_is_refused() {
        let mut ancestry = Ancestry::new(2);
        assert!(matches!(
            ancestry.push(Some(vec![0])),
            Err(SamplerError::Length {
                found: 1,
                expected: 2,
                ..
            })
        ));
        assert!(matches!(
            ancestry.push(Some(vec![0, 2])),
            Err(SamplerError::Ancestor {
                ancestor: 2,
                particles: 2
            })
        ));
        assert_eq!(ancestry.lineage(1), Some(vec![1]));
        assert_eq!(ancestry.lineage(2), None);
        assert_eq!(ancestry.roots(), [0, 1]);
    }
}

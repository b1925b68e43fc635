//! The classes that win races of which two rates are swapped.

use burn_flex::FlexTensor;

use super::{elements, size, zeros};
use crate::threads::{each, threads};

/// How long a variable of a pair takes, in multiplications of a product.
const COST: usize = 256;

/// See [`crate::Backend::swapped_classes`].
///
/// A swap changes two entries: the largest of the others is among the three largest of all, which are looked for once.
pub fn classes(
    logits: &FlexTensor,
    logarithms: &FlexTensor,
    classes: usize,
    pairs: &[(usize, usize)],
) -> FlexTensor {
    let (rows, columns) = (size(logarithms, 0), size(logarithms, 1));
    let variables = || {
        let logits = elements(logits).chunks_exact(classes).cycle();
        logits.zip(elements(logarithms).chunks_exact(classes))
    };
    let leaders: Vec<_> = variables()
        .map(|(phi, ln_pi)| leaders(phi, ln_pi))
        .collect();
    let mut values = zeros([pairs.len() * rows, columns]);
    let of_pairs = values
        .storage_mut::<f32>()
        .chunks_mut((rows * columns).max(1));
    let threads = threads(pairs.len() * leaders.len() * COST);
    each(threads, of_pairs, |number, out| {
        let pair = pairs[number];
        let all = variables().zip(&leaders).zip(out.chunks_exact_mut(classes));
        for (((phi, ln_pi), leaders), out) in all {
            // Entries that are no numbers win nothing: where all are such, there is a class all the same.
            out[winner(phi, ln_pi, leaders, pair).min(classes - 1)] = 1.0;
        }
    });
    values
}

/// An entry and its class.
#[derive(Clone, Copy)]
struct Entry {
    value: f32,
    class: usize,
}

impl Entry {
    /// Of several largest entries the first is the largest.
    fn is_before(self, other: Self) -> bool {
        self.value > other.value || self.value == other.value && self.class < other.class
    }
}

/// The three largest entries of φ − ln π, the largest first. With two classes the last is below all.
fn leaders(phi: &[f32], ln_pi: &[f32]) -> [Entry; 3] {
    let none = Entry {
        value: f32::NEG_INFINITY,
        class: usize::MAX,
    };
    let mut leaders = [none; 3];
    for (class, (phi, ln_pi)) in phi.iter().zip(ln_pi).enumerate() {
        let value = phi - ln_pi;
        let mut entry = Entry { value, class };
        for leader in &mut leaders {
            if entry.is_before(*leader) {
                std::mem::swap(&mut entry, leader);
            }
        }
    }
    leaders
}

/// The class of the largest entry where the logarithms of classes c and j are swapped.
fn winner(phi: &[f32], ln_pi: &[f32], leaders: &[Entry; 3], (c, j): (usize, usize)) -> usize {
    if c == j {
        return leaders[0].class;
    }
    let mut others = leaders
        .iter()
        .filter(|leader| ![c, j].contains(&leader.class));
    let mut most = *others.next().expect("two of three are left out at most");
    for (class, other) in [(c, j), (j, c)] {
        let value = phi[class] - ln_pi[other];
        let entry = Entry { value, class };
        if entry.is_before(most) {
            most = entry;
        }
    }
    most.class
}

//! How many data are put on their own rings.

use helmholtz_apg::least_cost;

/// max_π (1/N) Σ_n 1\[π(found_n) = truth_n\] over the permutations π of M labels: the share of data whose ring is right, labels meaning
/// nothing by themselves; 0 of no data.
///
/// # Panics
/// If they are not as many, a label is not below M, or M is above 8: all M! matchings are tried.
pub fn clustering_accuracy(found: &[usize], truth: &[usize], clusters: usize) -> f64 {
    assert_eq!(found.len(), truth.len(), "a label for each datum");
    let mut wrong = vec![vec![0.0; clusters]; clusters];
    for (&found, &truth) in found.iter().zip(truth) {
        wrong[found][truth] -= 1.0;
    }
    -least_cost(&wrong) / found.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_matched_at_their_best() {
        let truth = [0, 0, 1, 1, 2, 2];
        assert_eq!(clustering_accuracy(&truth, &truth, 3), 1.0);
        assert_eq!(clustering_accuracy(&[2, 2, 0, 0, 1, 1], &truth, 3), 1.0);
        assert_eq!(
            clustering_accuracy(&[2, 2, 0, 1, 1, 1], &truth, 3),
            5.0 / 6.0
        );
        // Two found labels on one ring: only one of them can be right.
        assert_eq!(clustering_accuracy(&[0, 1], &[0, 0], 2), 0.5);
    }
}

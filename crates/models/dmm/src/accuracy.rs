//! How many data are put on their own rings.

/// The share of data whose ring is right, for the best matching of the M found labels to the true ones: labels mean nothing by
/// themselves. `found` and `truth` are labels below M, at most 8.
///
/// # Panics
/// If they are not as many, or M is above 8: all M! matchings are tried.
pub fn clustering_accuracy(found: &[usize], truth: &[usize], clusters: usize) -> f64 {
    assert_eq!(found.len(), truth.len(), "a label for each datum");
    assert!(clusters <= 8, "{clusters}! matchings are too many");
    let mut together = vec![vec![0usize; clusters]; clusters];
    for (&found, &truth) in found.iter().zip(truth) {
        together[found][truth] += 1;
    }
    let best = best_matching(&together, 0, &mut vec![false; clusters]);
    best as f64 / found.len().max(1) as f64
}

/// The most data that the labels from `label` on can have right, when some of the true ones are taken.
fn best_matching(together: &[Vec<usize>], label: usize, taken: &mut Vec<bool>) -> usize {
    let Some(row) = together.get(label) else {
        return 0;
    };
    let mut best = 0;
    for (truth, &right) in row.iter().enumerate() {
        if !taken[truth] {
            taken[truth] = true;
            best = best.max(right + best_matching(together, label + 1, taken));
            taken[truth] = false;
        }
    }
    best
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

//! Matching what was found to what is there, when neither's order means anything.

/// The least total cost of a one-to-one matching, `costs[i][j]` being that of matching i to j: all matchings are tried.
///
/// # Panics
/// If the costs are not square, or of more than 8.
pub fn least_cost(costs: &[Vec<f64>]) -> f64 {
    let count = costs.len();
    assert!(count <= 8, "{count}! matchings are too many");
    assert!(costs.iter().all(|row| row.len() == count), "square costs");
    least(costs, &mut vec![false; count])
}

/// The same for the rows that are left, when some columns are taken.
fn least(costs: &[Vec<f64>], taken: &mut Vec<bool>) -> f64 {
    let Some((row, rest)) = costs.split_first() else {
        return 0.0;
    };
    let mut best = f64::INFINITY;
    for (column, cost) in row.iter().enumerate() {
        if !taken[column] {
            taken[column] = true;
            best = best.min(cost + least(rest, taken));
            taken[column] = false;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_cost_is_that_of_the_best_matching() {
        assert_eq!(least_cost(&[]), 0.0);
        assert_eq!(least_cost(&[vec![3.0]]), 3.0);
        // Each row's own best is the same column.
        let costs = [
            vec![1.0, 2.0, 9.0],
            vec![1.0, 5.0, 9.0],
            vec![1.0, 9.0, 4.0],
        ];
        assert_eq!(least_cost(&costs), 2.0 + 1.0 + 4.0);
    }
}

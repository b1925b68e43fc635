//! Rank normalisation.

use super::normal_quantile::normal_quantile;

/// Every draw replaced by Φ⁻¹((r - 3/8) / (S + 1/4)), r its rank from 1 among all S draws, the average rank for ties
/// (Blom, 1958; Vehtari et al., 2021, eq. 14).
pub(super) fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let draws = chains.concat();
    let mut order: Vec<usize> = (0..draws.len()).collect();
    order.sort_unstable_by(|&a, &b| draws[a].total_cmp(&draws[b]));
    let mut scores = vec![0.0; draws.len()];
    let mut below = 0;
    for tied in order.chunk_by(|&a, &b| draws[a] == draws[b]) {
        let rank = below as f64 + 0.5 * (tied.len() + 1) as f64;
        let score = normal_quantile((rank - 0.375) / (draws.len() as f64 + 0.25));
        tied.iter().for_each(|&i| scores[i] = score);
        below += tied.len();
    }
    let n = chains.first().map_or(1, Vec::len);
    scores.chunks(n).map(<[f64]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_quantiles_at_the_ranks_and_ties_share_theirs() {
        let score = |rank: f64| normal_quantile((rank - 0.375) / 6.25);
        let scores = normal_scores(&[vec![30.0, -1.0, 0.0], vec![8.0, -0.0, 1e300]]);
        assert_eq!(scores[0], [score(5.0), score(1.0), score(2.5)]);
        assert_eq!(scores[1], [score(4.0), score(2.5), score(6.0)]);
    }
}

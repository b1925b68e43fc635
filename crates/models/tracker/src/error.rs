//! How far digits are from where they are found.

use helmholtz_apg::least_cost;

/// The mean distance between the paths found and the true ones, `[D][T]` each, for the best matching of digits, in units of positions.
/// Times half the [room](crate::Canvas::room) it is in pixels.
///
/// # Panics
/// If they are not as many and as long, or more than 8 digits.
pub fn tracking_error(found: &[Vec<[f64; 2]>], truth: &[Vec<[f64; 2]>]) -> f64 {
    assert_eq!(found.len(), truth.len(), "a path for each digit");
    let distance = |a: &Vec<[f64; 2]>, b: &Vec<[f64; 2]>| -> f64 {
        assert_eq!(a.len(), b.len(), "a position in each frame");
        let steps = a.iter().zip(b);
        let sum: f64 = steps.map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1])).sum();
        sum / a.len() as f64
    };
    let costs: Vec<Vec<f64>> = found
        .iter()
        .map(|own| truth.iter().map(|other| distance(own, other)).collect())
        .collect();
    least_cost(&costs) / found.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_digits_means_nothing() {
        let path = |from: [f64; 2]| vec![from, [from[0] + 0.1, from[1]]];
        let truth = [path([0.0, 0.0]), path([0.5, -0.5])];
        let mut found = [path([0.5, -0.5]), path([0.0, 0.0])];
        assert_eq!(tracking_error(&found, &truth), 0.0);
        // One digit 3-4-5 off in one of two frames.
        found[0][1] = [0.6 + 0.3, -0.5 + 0.4];
        assert!((tracking_error(&found, &truth) - 0.5 / 4.0).abs() < 1e-12);
    }
}

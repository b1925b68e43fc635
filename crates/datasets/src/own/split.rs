//! The rows of the parts of a data set.

use std::collections::BTreeMap;

use helmholtz_random::{Purpose, Stream};

const SPLIT: Purpose = Purpose::new("split");

/// The rows of the training, validation and test data, each ascending. Of every class so many as its share is, rounded, the rows of
/// a class in an order named by the seed.
pub(super) fn rows_of_parts(
    rows: usize,
    labels: Option<&[i64]>,
    fractions: [f64; 3],
    seed: u64,
) -> Result<[Vec<u32>; 3], String> {
    let sum: f64 = fractions.iter().sum();
    if !fractions.iter().all(|share| *share > 0.0) || (sum - 1.0).abs() > 1e-6 {
        return Err(format!(
            "the shares {fractions:?} of training, validation and test data must be positive and add up to 1"
        ));
    }
    let mut classes: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for row in 0..rows {
        let class = labels.map_or(0, |labels| labels[row]);
        classes.entry(class).or_default().push(row as u32);
    }
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    for (index, members) in classes.values().enumerate() {
        let count = members.len() as u32;
        let order = Stream::new(seed, SPLIT, [index as u64, 0]).permutation(count);
        let at = |share: f64| (share * f64::from(count)).round() as usize;
        let (train, both) = (at(fractions[0]), at(fractions[0] + fractions[1]));
        for (place, &member) in order.iter().enumerate() {
            let part = usize::from(place >= train) + usize::from(place >= both);
            parts[part].push(members[member as usize]);
        }
    }
    for (part, name) in parts.iter_mut().zip(["training", "validation", "test"]) {
        if part.is_empty() {
            return Err(format!(
                "of {rows} rows the shares {fractions:?} leave none for the {name} data: give more rows, or other shares"
            ));
        }
        part.sort_unstable();
    }
    Ok(parts)
}

//! The real files, where there are any: `HELMHOLTZ_DATA` names their folder (continuous integration sets it).
//!
//! Without it nothing is shown here, and each test says so; the formats are tested on small files elsewhere.

use std::io::Write;

use helmholtz_datasets::{DatasetName, Images, Locator, Splits, load, load_grey_mnist};

/// A locator that looks into `HELMHOLTZ_DATA` only; `None`, with a message, when that is not set.
fn real_files() -> Option<Locator> {
    let Some(folder) = std::env::var_os("HELMHOLTZ_DATA").filter(|value| !value.is_empty()) else {
        // Not `eprintln!`, which the test harness hides when a test passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: HELMHOLTZ_DATA names no folder with the real files; nothing was checked"
        );
        return None;
    };
    Some(Locator::only_in(folder))
}

fn means_and_sizes(splits: &Splits) -> [(usize, String); 3] {
    [&splits.train, &splits.valid, &splits.test]
        .map(|part: &Images| (part.len(), format!("{:.7}", part.mean())))
}

#[test]
fn binarised_mnist_has_the_published_rows_and_means() {
    let Some(locator) = real_files() else { return };
    let splits = load(DatasetName::BinarizedMnist, &locator, &mut |_| {}).unwrap();
    assert!(!splits.synthetic);
    assert_eq!(splits.train.pixels(), 784);
    let expected = [
        (50_000, "0.1305623"),
        (10_000, "0.1311270"),
        (10_000, "0.1325122"),
    ];
    assert_eq!(
        means_and_sizes(&splits),
        expected.map(|(len, mean)| (len, mean.to_owned()))
    );
    assert_eq!(
        splits.fingerprint,
        "4b1978a4a7afe84fdbe25c2e30e61e798daaeb55a47a4b7007d6449205e1a8a9"
    );
}

#[test]
fn binarised_mnist_has_no_image_twice() {
    let Some(locator) = real_files() else { return };
    let splits = load(DatasetName::BinarizedMnist, &locator, &mut |_| {}).unwrap();
    let mut rows: Vec<&[u8]> = [&splits.train, &splits.valid, &splits.test]
        .into_iter()
        .flat_map(|part| (0..part.len()).map(|i| part.row_bits(i)))
        .collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), 70_000);
}

#[test]
fn threshold_mnist_has_the_split_of_its_papers() {
    let Some(locator) = real_files() else { return };
    let splits = load(DatasetName::ThresholdMnist, &locator, &mut |_| {}).unwrap();
    let sizes = [&splits.train, &splits.valid, &splits.test].map(Images::len);
    assert_eq!(sizes, [55_000, 5_000, 10_000]);
    let grey = load_grey_mnist(&locator, &mut |_| {}).unwrap();
    let mut pixels = [0.0; 784];
    for (part, row, image) in [
        (&splits.valid, 0, grey.train.row(0)),
        (&splits.valid, 4_999, grey.train.row(4_999)),
        (&splits.train, 0, grey.train.row(5_000)),
        (&splits.train, 54_999, grey.train.row(59_999)),
        (&splits.test, 9_999, grey.test.row(9_999)),
    ] {
        part.write_row_f32(row, &mut pixels);
        let expected = image
            .iter()
            .map(|&byte| if byte >= 128 { 1.0 } else { 0.0 });
        assert!(expected.eq(pixels));
    }
}

#[test]
fn grey_mnist_has_the_published_rows_means_and_labels() {
    let Some(locator) = real_files() else { return };
    let mnist = load_grey_mnist(&locator, &mut |_| {}).unwrap();
    assert_eq!((mnist.train.len(), mnist.test.len()), (60_000, 10_000));
    assert_eq!((mnist.train.rows(), mnist.train.columns()), (28, 28));
    assert_eq!(format!("{:.7}", mnist.train.mean()), "0.1306605");
    assert_eq!(format!("{:.7}", mnist.test.mean()), "0.1325146");
    assert_eq!(mnist.train_labels[..10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]);
    let zeros = mnist
        .test_labels
        .iter()
        .filter(|&&label| label == 0)
        .count();
    assert_eq!(
        (mnist.train_labels.len(), mnist.test_labels.len(), zeros),
        (60_000, 10_000, 980)
    );
}

#[test]
fn grey_mnist_has_the_split_and_the_levels_of_threshold_mnist() {
    let Some(locator) = real_files() else { return };
    let grey = load(DatasetName::GreyMnist, &locator, &mut |_| {}).unwrap();
    let binary = load(DatasetName::ThresholdMnist, &locator, &mut |_| {}).unwrap();
    assert_eq!(grey.train.len(), 55_000);
    let (mut levels, mut bits) = ([0.0; 784], [0.0; 784]);
    for row in [0, 27_000, 54_999] {
        grey.train.write_row_f32(row, &mut levels);
        binary.train.write_row_f32(row, &mut bits);
        assert!(levels.iter().any(|&level| level > 0.0 && level < 1.0));
        assert_eq!(levels.map(|level| f32::from(u8::from(level > 0.5))), bits);
    }
}

#[test]
fn the_drawings_of_omniglot_are_those_published() {
    let Some(locator) = real_files() else { return };
    let splits = load(DatasetName::OmniglotReduced, &locator, &mut |_| {}).unwrap();
    // The share of ink in all drawings is 0.0805.
    let expected = [
        (23_045, "0.0804965"),
        (1_345, "0.0806578"),
        (8_070, "0.0805403"),
    ];
    assert_eq!(
        means_and_sizes(&splits),
        expected.map(|(len, mean)| (len, mean.to_owned()))
    );
    assert_eq!(
        splits.fingerprint,
        "88d1c94a1a1c54acb205ae45af1f00b13b7256030a6b42344e60f6392089432d"
    );
}

#[test]
fn a_name_knows_how_many_images_there_are_to_learn_from() {
    let Some(locator) = real_files() else { return };
    for name in DatasetName::ALL {
        match load(name, &locator, &mut |_| {}) {
            Ok(splits) => assert_eq!(splits.train.len(), name.train_images(), "{name}"),
            // Files that the folder of real data need not have.
            Err(error) => assert!(
                error.is_missing()
                    && ["omniglot", "fashion-mnist"]
                        .iter()
                        .any(|rare| name.to_string().ends_with(rare)),
                "{error}"
            ),
        }
    }
}

//! The data of the papers on estimators since 2020: training images binarised afresh whenever they are read.

use std::path::PathBuf;

use helmholtz_random::Purpose;

use crate::declared::{Declared, Origin, Parts};
use crate::event::Progress;
use crate::omniglot::{CHARDATA_BLOB, SIDE, VALID, find_chardata, grey_chardata};
use crate::{Error, GreyImages, Images, Locator, Reading, fashion, mnist_files, read_idx_images};

/// Of the training images of MNIST and of Fashion-MNIST, those that train; the others validate. Released code takes the first
/// 50,000 in the order of a TensorFlow data set, another one than that of the files.
const TRAIN: usize = 50_000;

/// The one draw of the images that are drawn once: of validation and test images, whatever the run's seed, so that all runs are
/// compared on the same images.
const ONCE: Reading = Reading {
    seed: 1,
    purpose: Purpose::new("once"),
    position: 0,
};

/// The same of training images.
const TRAIN_ONCE: Reading = Reading {
    position: 1,
    ..ONCE
};

/// What is said of grey levels as densities.
const GREY: &str =
    "GREY PIXELS: for densities of real numbers alone; comparable with no number of binary images.";

pub(crate) const MNIST: Declared = Declared {
    name: "dynamic-mnist",
    train_images: TRAIN,
    synthetic: false,
    caution: None,
    parts: |locator, progress| Ok(afresh(mnist(locator, progress)?)),
};

pub(crate) const MNIST_ONCE: Declared = Declared {
    name: "dynamic-mnist-once",
    train_images: TRAIN,
    synthetic: false,
    caution: Some(
        "MNIST DRAWN ONCE: the training images are binarised once, as in runs that call it dynamic and are not.",
    ),
    parts: |locator, progress| {
        let ([train, valid, test], origin) = afresh(mnist(locator, progress)?);
        Ok(([train.drawn(TRAIN_ONCE), valid, test], origin))
    },
};

pub(crate) const MNIST_GREY: Declared = Declared {
    name: "grey-mnist-50000",
    train_images: TRAIN,
    synthetic: false,
    caution: Some(GREY),
    parts: |locator, progress| Ok(grey(mnist(locator, progress)?)),
};

pub(crate) const FASHION: Declared = Declared {
    name: "dynamic-fashion-mnist",
    train_images: TRAIN,
    synthetic: false,
    caution: None,
    parts: |locator, progress| Ok(afresh(fashion::images(locator, &fashion::FILES, progress)?)),
};

pub(crate) const FASHION_GREY: Declared = Declared {
    name: "grey-fashion-mnist",
    train_images: TRAIN,
    synthetic: false,
    caution: Some(GREY),
    parts: |locator, progress| Ok(grey(fashion::images(locator, &fashion::FILES, progress)?)),
};

pub(crate) const OMNIGLOT: Declared = Declared {
    name: "dynamic-omniglot",
    train_images: 23_000,
    synthetic: false,
    caution: None,
    parts: |locator, progress| {
        let path = find_chardata(locator)?;
        let levels = grey_chardata(&path, Some(CHARDATA_BLOB), progress)?;
        Ok((of_levels(levels), Origin::Files(vec![path])))
    },
};

/// Training and test images, and their files.
type Grey = ([GreyImages; 2], Vec<PathBuf>);

/// The images of MNIST.
fn mnist(locator: &Locator, progress: &mut Progress) -> Result<Grey, Error> {
    let [train, _, test, _] = mnist_files();
    let paths = vec![
        locator.find(&train, progress)?,
        locator.find(&test, progress)?,
    ];
    let images = [
        read_idx_images(&paths[0], Some(&train), progress)?,
        read_idx_images(&paths[1], Some(&test), progress)?,
    ];
    Ok((images, paths))
}

/// Grey images in the split of the papers.
fn grey(([train, test], paths): Grey) -> Parts {
    let (all, most) = (train.len(), train.len().min(TRAIN));
    let parts = [
        train.levels(0..most),
        train.levels(most..all),
        test.levels(0..test.len()),
    ];
    (parts, Origin::Files(paths))
}

/// The same, to be drawn.
fn afresh(images: Grey) -> Parts {
    let (parts, origin) = grey(images);
    (to_be_drawn(parts), origin)
}

/// Training images whose every reading is a draw; validation and test images drawn once.
fn to_be_drawn(parts: [Images; 3]) -> [Images; 3] {
    let [train, valid, test] = parts.map(Images::into_probabilities);
    let other = Reading {
        position: 2,
        ..ONCE
    };
    [train, valid.drawn(ONCE), test.drawn(other)]
}

/// The images of `chardata.mat`, levels rounded to bytes: the last 1,345 training images validate.
fn of_levels([train, test]: [Vec<f64>; 2]) -> [Images; 3] {
    let pixels = SIDE * SIDE;
    let bytes = |levels: &[f64]| -> Vec<u8> {
        let byte = |&level: &f64| (level * 255.0).round() as u8;
        levels.iter().map(byte).collect()
    };
    let most = (train.len() / pixels).saturating_sub(VALID) * pixels;
    let parts = [&train[..most], &train[most..], &test[..]];
    to_be_drawn(parts.map(|levels| Images::grey(pixels, bytes(levels))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::omniglot::tests::chardata;
    use crate::{Data, Kind, Read};

    #[test]
    fn training_images_are_drawn_at_each_reading_and_the_others_once() {
        let levels = |images: usize| GreyImages::new(1, 2, [0, 128].repeat(images));
        let images = ([levels(TRAIN + 100), levels(50)], Vec::new());
        let ([train, valid, test], _) = afresh(images.clone());
        assert_eq!([train.len(), valid.len(), test.len()], [TRAIN, 100, 50]);
        let kinds = [train.kind(), valid.kind(), test.kind()];
        assert_eq!(kinds, [Kind::Drawn, Kind::Bits, Kind::Bits]);
        let again = afresh(images).0;
        assert!(valid == again[1] && test == again[2]);
        let of_epoch = |position| {
            let read = Read::new(&train, Reading { position, ..ONCE });
            let rows = (0..40).map(|i| read.row_bits(i).unwrap()[0]);
            rows.collect::<Vec<_>>()
        };
        assert_ne!(of_epoch(0), of_epoch(1));
        // A level of 0 is never on, whoever reads it.
        assert!(of_epoch(0).iter().all(|row| row & 1 == 0));
    }

    #[test]
    fn omniglot_is_split_in_the_order_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chardata.mat");
        // Certain pixels that tell the image's number.
        let number = |i: usize, r: usize, c: usize| f64::from(r == 3 && i >> c & 1 == 1);
        std::fs::write(&path, chardata(1_350, 4, number)).unwrap();
        let levels = grey_chardata(&path, None, &mut |_| {}).unwrap();
        let [train, valid, test] = of_levels(levels);
        assert_eq!([train.len(), valid.len(), test.len()], [5, VALID, 4]);
        let told = |images: &Images, i: usize| -> u32 {
            let mut row = vec![0.0; SIDE * SIDE];
            images.write_row(i, &mut row);
            let bits = row[3 * SIDE..][..11].iter().enumerate();
            bits.map(|(c, &x)| (x as u32) << c).sum()
        };
        assert_eq!(
            [told(&train, 4), told(&valid, 0), told(&test, 3)],
            [4, 5, 3]
        );
        assert_eq!(told(&valid, VALID - 1), 1_349);
    }

    #[test]
    fn parts_that_are_drawn_once_are_other_draws() {
        let same = || GreyImages::new(1, 64, vec![128; 64]).levels(0..1);
        let [train, valid, test] = to_be_drawn([same(), same(), same()]);
        let train = train.drawn(TRAIN_ONCE);
        assert!(train != valid && train != test && valid != test);
    }
}

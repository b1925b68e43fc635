//! Fashion-MNIST (Xiao, Rasul & Vollgraf 2017): grey images in the format of MNIST.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::content::hex;
use crate::event::Progress;
use crate::{Error, GreyImages, Locator, Missing, read_idx_images};

/// The home of the files, and a mirror of the same bytes.
const HOMES: &str = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/ (also \
                     https://github.com/zalandoresearch/fashion-mnist, folder data/fashion)";

/// A published file, which is looked for in a folder of its own: MNIST's have the same names.
pub(crate) struct Published {
    name: &'static str,
    /// The sha256 of the gzipped file: of its content none is published.
    sha256: &'static str,
}

/// The training and the test images.
pub(crate) const FILES: [Published; 2] = [
    Published {
        name: "fashion-mnist/train-images-idx3-ubyte.gz",
        sha256: "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    },
    Published {
        name: "fashion-mnist/t10k-images-idx3-ubyte.gz",
        sha256: "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    },
];

/// Training and test images, and the files they came from.
///
/// # Errors
/// [`Error::Missing`] with the home and the checksum, since nothing is downloaded; [`Error::WrongChecksum`]; as
/// [`read_idx_images`].
pub(crate) fn images(
    locator: &Locator,
    files: &[Published; 2],
    progress: &mut Progress,
) -> Result<([GreyImages; 2], Vec<PathBuf>), Error> {
    let mut read = |file: &Published| {
        let checksum = format!("sha256 {} (gzipped)", file.sha256);
        let path = locator.find_supplied(file.name, &checksum, HOMES, Missing::GLYPHS)?;
        check(&path, file.sha256)?;
        let images = read_idx_images(&path, None, progress)?;
        Ok::<_, Error>((images, path))
    };
    let [(train, first), (test, second)] = [read(&files[0])?, read(&files[1])?];
    Ok(([train, test], vec![first, second]))
}

/// That the bytes of a file are the published ones.
fn check(path: &Path, sha256: &str) -> Result<(), Error> {
    let mut file = File::open(path).map_err(|e| Error::io("open", path, e))?;
    let mut hash = Sha256::new();
    io::copy(&mut file, &mut hash).map_err(|e| Error::io("read", path, e))?;
    let found = hex(&hash.finalize());
    match found == sha256 {
        true => Ok(()),
        false => Err(Error::WrongChecksum {
            file: path.to_owned(),
            kind: "sha256 of the gzipped file",
            expected: sha256.to_owned(),
            found,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::gzip;

    /// Two files in the published format, and what they are to be.
    fn files(folder: &Path) -> [Published; 2] {
        fs::create_dir(folder.join("fashion-mnist")).unwrap();
        [(3u8, FILES[0].name), (1, FILES[1].name)].map(|(images, name)| {
            let mut idx = vec![0, 0, 8, 3, 0, 0, 0, images, 0, 0, 0, 2, 0, 0, 0, 2];
            idx.extend((0..4 * images).map(|pixel| 20 * pixel));
            let bytes = gzip(&idx);
            fs::write(folder.join(name), &bytes).unwrap();
            let sha256 = hex(&Sha256::digest(&bytes));
            Published {
                name,
                sha256: sha256.leak(),
            }
        })
    }

    #[test]
    fn images_are_read_from_a_folder_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let locator = Locator::only_in(folder.path());
        let ([train, test], paths) = images(&locator, &files, &mut |_| {}).unwrap();
        assert_eq!((train.len(), test.len(), paths.len()), (3, 1, 2));
        assert_eq!(train.row(1), [80, 100, 120, 140]);
    }

    #[test]
    fn other_files_are_refused_and_a_missing_one_is_named_with_its_home() {
        let folder = tempfile::tempdir().unwrap();
        let locator = Locator::only_in(folder.path());
        let error = images(&locator, &FILES, &mut |_| {}).unwrap_err();
        assert!(error.is_missing());
        let text = error.to_string();
        for part in [
            "fashion-mnist/train-images",
            FILES[0].sha256,
            "zalandoresearch",
        ] {
            assert!(text.contains(part), "{text}");
        }
        files(folder.path());
        let error = images(&locator, &FILES, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
    }
}

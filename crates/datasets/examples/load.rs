//! Loads a data set and says what it is: `cargo run --release -p helmholtz-datasets --example load -- binarized-mnist`
//!
//! A second argument names a folder to look in first.

use std::time::Instant;

use helmholtz_datasets::{DatasetName, Event, Locator, load};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "glyphs".to_owned());
    let locator = Locator::new(arguments.next().map(Into::into));
    let start = Instant::now();
    let splits = name.parse::<DatasetName>().and_then(|name| {
        load(name, &locator, &mut |event| match event {
            Event::Downloading {
                url,
                received,
                total,
            } => eprint!("\r{url}: {received} of {} bytes", total.unwrap_or(0)),
            other => eprintln!("{other:?}"),
        })
    });
    match splits {
        Ok(splits) => {
            println!("{} in {:.3} s", splits.name, start.elapsed().as_secs_f64());
            for (part, images) in [
                ("train", &splits.train),
                ("valid", &splits.valid),
                ("test", &splits.test),
            ] {
                println!("{part}: {images:?}, mean {:.7}", images.mean());
            }
            println!("fingerprint {}", splits.fingerprint);
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

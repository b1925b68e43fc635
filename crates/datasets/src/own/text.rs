//! Lines of numbers.

use std::path::Path;

use super::arrays::Array;
use super::unsuitable;
use crate::Error;
use crate::content::describe;

/// The rows of a text: `most` numbers with spaces, tabs or commas between them; empty lines are none.
pub(super) fn read(file: &Path, bytes: &[u8], most: usize) -> Result<Array, Error> {
    let (mut width, mut numbers) = (None, Vec::new());
    for (line, text) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let before = numbers.len();
        let words = text.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
        for word in words.filter(|word| !word.is_empty()) {
            let number = std::str::from_utf8(word)
                .ok()
                .and_then(|word| word.parse::<f32>().ok());
            numbers.push(number.ok_or_else(|| Error::Corrupt {
                file: file.to_owned(),
                at: format!("line {}", line + 1),
                found: format!("{} where a number is expected", describe(word)),
            })?);
        }
        let here = numbers.len() - before;
        match width {
            _ if here == 0 => {}
            None => width = Some(here),
            Some(width) if width != here => {
                let problem = format!(
                    "line {} has {here} numbers, the lines before it {width}",
                    line + 1
                );
                return Err(unsuitable(file, problem));
            }
            Some(_) => {}
        }
        if numbers.len() > most {
            return Err(unsuitable(
                file,
                format!("it has more than {most} numbers, the most"),
            ));
        }
    }
    Ok(Array::new(width.unwrap_or(0), numbers))
}

//! What must hold of a file of parameters whatever its bytes are: shared with the fuzzer.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_sbn::{Sbn, SbnConfig};
use helmholtz_training::{TrainError, load_parameters, save_parameters};
use serde_json::Value;

/// Two layers with a deterministic one inside each factor, and a learned prior.
pub fn model(seed: u64, dtype: DType, learned_prior: bool) -> Sbn<Flex> {
    let mut config = SbnConfig::named("linear").expect("a net");
    config.visible = 7;
    config.latent = vec![3, 2];
    config.hidden = vec![4];
    config.learned_prior = learned_prior;
    config
        .init(seed, dtype, &Default::default())
        .expect("a net")
}

/// A parameter: its name, shape, type as the format has it, and bytes.
#[derive(Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub shape: Vec<usize>,
    pub dtype: &'static str,
    pub bytes: Vec<u8>,
}

#[derive(Default)]
struct Seen {
    path: Vec<String>,
    parameters: Vec<Parameter>,
}

impl<B: Backend> ModuleVisitor<B> for Seen {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let data = param.val().into_data();
        self.parameters.push(Parameter {
            name: self.path.join("."),
            shape: param.val().dims().to_vec(),
            dtype: match data.dtype {
                DType::F32 => "F32",
                DType::F64 => "F64",
                other => panic!("a net of {other:?}"),
            },
            bytes: data.as_bytes().to_vec(),
        });
    }
}

/// Every parameter of a net.
pub fn seen(model: &Sbn<Flex>) -> Vec<Parameter> {
    let mut seen = Seen::default();
    model.visit(&mut seen);
    seen.parameters
}

/// A parameter as the bytes of a file have it, read by the format's own words: 8 bytes with the length of the header, the header
/// as JSON, and the numbers.
fn stated(file: &[u8], name: &str) -> Parameter {
    let (length, rest) = file.split_first_chunk::<8>().expect("a length");
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let header: Value = serde_json::from_slice(header).expect("a header");
    let entry = &header[name];
    let list = |key: &str| -> Vec<usize> {
        let list = entry[key].as_array().expect("a list");
        let number = |n: &Value| n.as_u64().expect("a number") as usize;
        list.iter().map(number).collect()
    };
    let (shape, ends) = (list("shape"), list("data_offsets"));
    let dtype = match entry["dtype"].as_str() {
        Some("F32") => "F32",
        Some("F64") => "F64",
        other => panic!("numbers of type {other:?} were taken"),
    };
    let (name, bytes) = (name.into(), numbers[ends[0]..ends[1]].to_vec());
    Parameter {
        name,
        shape,
        dtype,
        bytes,
    }
}

/// The bytes of a sound file.
pub fn whole(dtype: DType) -> Vec<u8> {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = scratch.path().join("model.safetensors");
    save_parameters(&model(1, dtype, true), &path).expect("saved");
    std::fs::read(path).expect("a file")
}

/// Loads a file of these bytes: a net with every number as the file has it and as the net must have it, or an error. Returns
/// whether it loaded.
///
/// # Panics
/// If it is not so.
pub fn check_file(dtype: DType, file: &[u8]) -> bool {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let path = scratch.path().join("model.safetensors");
    std::fs::write(&path, file).expect("written");
    let own = model(2, dtype, true);
    let expected = seen(&own);
    match load_parameters(own, &path) {
        Ok(loaded) => {
            let loaded = seen(&loaded);
            assert_eq!(loaded.len(), expected.len());
            for (found, own) in loaded.iter().zip(&expected) {
                assert_eq!(*found, stated(file, &own.name));
                let form = |p: &Parameter| (p.name.clone(), p.shape.clone(), p.dtype);
                assert_eq!(form(found), form(own));
            }
            true
        }
        Err(TrainError::Parameters { problem, .. }) => {
            assert!(problem.len() > 10, "{problem}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// What a header is changed to.
const WORDS: [&str; 16] = [
    "\"F32\"",
    "\"F64\"",
    "\"I32\"",
    "\"U32\"",
    "\"I64\"",
    "\"BF16\"",
    "\"BOOL\"",
    "\"F8_E4M3\"",
    "0",
    "1",
    "18446744073709551615",
    "4611686018427387904",
    "-1",
    "1e30",
    "[]",
    "{}",
];

/// [`check_file`] of a sound file with edits that `input` names: kind of number | edits, each an operation, a place and what it puts
/// there. Bytes that are missing are 0.
pub fn check(input: &[u8]) -> bool {
    let mut input = input.iter().copied();
    let mut byte = move || input.next().unwrap_or(0);
    let dtype = [DType::F32, DType::F64][usize::from(byte() % 2)];
    let mut file = whole(dtype);
    for _ in 0..byte() % 6 {
        edit(&mut file, &mut byte);
    }
    check_file(dtype, &file)
}

fn edit(file: &mut Vec<u8>, byte: &mut impl FnMut() -> u8) {
    let (operation, place) = (byte() % 8, usize::from(byte()) | usize::from(byte()) << 8);
    let length = file.first_chunk().map_or(0, |n| u64::from_le_bytes(*n)) as usize;
    let header = 8..8usize.saturating_add(length).min(file.len());
    let at = place % (file.len() + 1);
    match operation {
        0 => file.truncate(at),
        1 => {
            let new: Vec<u8> = (0..byte() % 9).map(|_| byte()).collect();
            drop(file.splice(at..at, new));
        }
        2 => drop(file.drain(at..file.len().min(at + usize::from(byte() % 32)))),
        3 => file[..8.min(at)].fill(byte()),
        // A word of the header by another one, and the length that belongs to it.
        4..6 if header.len() > 1 && header.end > 8 => {
            let text = &file[header.clone()];
            let words = words(text);
            if words.is_empty() {
                return;
            }
            let (old, new) = (
                words[place % words.len()].clone(),
                usize::from(byte()) % (WORDS.len() + words.len()),
            );
            let new = match new.checked_sub(WORDS.len()) {
                Some(other) => text[words[other].clone()].to_vec(),
                None => WORDS[new].as_bytes().to_vec(),
            };
            let length = length.wrapping_add(new.len()).wrapping_sub(old.len()) as u64;
            drop(file.splice(8 + old.start..8 + old.end, new));
            file[..8].copy_from_slice(&length.to_le_bytes());
        }
        _ if at < file.len() => file[at] = byte(),
        _ => {}
    }
}

/// Where the strings and numbers of a header stand.
fn words(header: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut words, mut at) = (Vec::new(), 0);
    while at < header.len() {
        let rest = &header[at..];
        let length = match rest[0] {
            b'"' => 2 + rest[1..].iter().take_while(|b| **b != b'"').count(),
            b'0'..=b'9' => rest.iter().take_while(|b| b.is_ascii_digit()).count(),
            _ => {
                at += 1;
                continue;
            }
        };
        let end = (at + length).min(header.len());
        words.push(at..end);
        at = end;
    }
    words
}

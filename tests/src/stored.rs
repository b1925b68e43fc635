//! States in a chain store.

use helmholtz_samplers::{ChainStore, Latents, Layer, MemoryStore, Values};

use crate::{Enumerable, State};

/// A chain store of these states, one a row.
pub fn store_of(reference: &impl Enumerable, states: &[&State]) -> MemoryStore {
    let latents = reference.latents();
    let mut store = MemoryStore::new(&latents, states.len()).expect("few rows");
    for (row, state) in (0..).zip(states) {
        let packed = latents.pack_values(&values(&latents, state));
        let stored = store.store(&[row], &packed.expect("a whole state"));
        stored.expect("a row of the store");
    }
    store
}

fn values(latents: &Latents, state: &State) -> Vec<Values> {
    let layers = latents.kinds().iter().zip(state);
    let values = layers.map(|(layer, values)| match *layer {
        Layer::Bernoulli(_) => Values::Bernoulli(values.iter().map(|&bit| bit == 1.0).collect()),
        Layer::Categorical { classes, .. } => {
            let class = |one_hot: &[f64]| one_hot.iter().position(|&z| z == 1.0);
            let classes = values.chunks(classes as usize).map(class);
            Values::Categorical(classes.map(|c| c.expect("a class") as u32).collect())
        }
        _ => panic!("{layer} cannot be enumerated"),
    });
    values.collect()
}

/// The index, among [`Enumerable::states`], of the state in a row of the store.
pub fn read_state(store: &dyn ChainStore, row: u32) -> usize {
    let latents = store.latents();
    let mut packed = vec![0; latents.bytes_per_row()];
    store.load(&[row], &mut packed).expect("a row of the store");
    let layers = latents.unpack_values(&packed).expect("a whole row");
    let (mut index, mut size) = (0, 1);
    for (values, layer) in layers.into_iter().zip(latents.kinds()) {
        let (codes, classes): (Vec<usize>, usize) = match (values, layer) {
            (Values::Bernoulli(bits), _) => (bits.into_iter().map(usize::from).collect(), 2),
            (Values::Categorical(codes), Layer::Categorical { classes, .. }) => (
                codes.into_iter().map(|code| code as usize).collect(),
                *classes as usize,
            ),
            _ => panic!("{layer} cannot be enumerated"),
        };
        for code in codes {
            index += code * size;
            size *= classes;
        }
    }
    index
}

//! All latents of a model as one value.

use std::iter;
use std::ops::Range;

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};

/// All latents of a model for L particles of each of B instances: tensors `[L, B, ..]`, and what is cached of them.
///
/// [`particle!`](crate::particle!) makes the struct and this trait from one list, so that what is done to all latents,
/// resampling above all, can forget none.
pub trait Particle: Clone {
    /// Where the tensors are.
    type Backend: Backend;

    /// The same particles with each latent mapped.
    fn map(self, mapper: &mut impl LatentMapper<Self::Backend>) -> Self;

    /// Row l of instance b becomes row `ancestors[l · instances + b]` of it: `ancestors` is `[L', B]`.
    ///
    /// # Panics
    /// If a latent is not `[L, B, ..]`, or an ancestor is not below L.
    fn gather(self, ancestors: &[u32], instances: usize) -> Self {
        self.map(&mut Gather {
            ancestors,
            instances,
            rows: None,
        })
    }

    /// The particles of these numbers, of every instance.
    fn narrow(self, particles: Range<usize>) -> Self {
        self.map(&mut Narrow(particles))
    }

    /// All particles of these groups, one group after the other.
    ///
    /// # Panics
    /// If there is no group.
    fn concatenate(groups: Vec<Self>) -> Self {
        let mut groups = groups.into_iter();
        let first = groups.next().expect("a group of particles");
        let others = groups.map(|group| {
            let mut rows = Rows(Vec::new());
            group.map(&mut rows);
            rows.0.into_iter()
        });
        let others: Vec<_> = others.collect();
        match others.is_empty() {
            true => first,
            false => first.map(&mut Concatenate(others)),
        }
    }

    /// The same particles, detached from the tape.
    fn detach(self) -> Self {
        self.map(&mut Detach)
    }
}

/// Something that is done to every latent.
pub trait LatentMapper<B: Backend> {
    /// What becomes of the latent of this name.
    fn map<const D: usize>(&mut self, name: &'static str, latent: Tensor<B, D>) -> Tensor<B, D>;
}

struct Detach;

impl<B: Backend> LatentMapper<B> for Detach {
    fn map<const D: usize>(&mut self, _: &'static str, latent: Tensor<B, D>) -> Tensor<B, D> {
        latent.detach()
    }
}

struct Narrow(Range<usize>);

impl<B: Backend> LatentMapper<B> for Narrow {
    fn map<const D: usize>(&mut self, _: &'static str, latent: Tensor<B, D>) -> Tensor<B, D> {
        latent.narrow(0, self.0.start, self.0.len())
    }
}

/// The latents of a group, a row for each particle.
struct Rows<B: Backend>(Vec<Tensor<B, 2>>);

impl<B: Backend> LatentMapper<B> for Rows<B> {
    fn map<const D: usize>(&mut self, _: &'static str, latent: Tensor<B, D>) -> Tensor<B, D> {
        self.0.push(rows(latent.clone()));
        latent
    }
}

fn rows<B: Backend, const D: usize>(latent: Tensor<B, D>) -> Tensor<B, 2> {
    let dims = latent.dims();
    latent.reshape([dims[0], dims[1..].iter().product()])
}

/// The rows of the other groups, a latent each.
struct Concatenate<B: Backend>(Vec<std::vec::IntoIter<Tensor<B, 2>>>);

impl<B: Backend> LatentMapper<B> for Concatenate<B> {
    fn map<const D: usize>(&mut self, name: &'static str, latent: Tensor<B, D>) -> Tensor<B, D> {
        let mut dims = latent.dims();
        let others = (self.0.iter_mut()).map(|group| group.next());
        let others = others.map(|rows| rows.unwrap_or_else(|| panic!("all groups have `{name}`")));
        let groups: Vec<_> = iter::once(rows(latent)).chain(others).collect();
        dims[0] = groups.iter().map(|group| group.dims()[0]).sum();
        helmholtz_ops::cat(groups, 0).reshape(dims)
    }
}

struct Gather<'a, B: Backend> {
    ancestors: &'a [u32],
    instances: usize,
    /// Rows of a latent taken as `[L B, ..]`, once they are on the device.
    rows: Option<Tensor<B, 1, Int>>,
}

impl<B: Backend> LatentMapper<B> for Gather<'_, B> {
    fn map<const D: usize>(&mut self, name: &'static str, latent: Tensor<B, D>) -> Tensor<B, D> {
        let mut dims = latent.dims();
        assert!(
            D >= 2 && dims[1] == self.instances,
            "the latent `{name}` is {dims:?}, not [L, {}, ..]",
            self.instances
        );
        let rows = self.rows.get_or_insert_with(|| {
            let instance = (0..self.instances).cycle();
            let rows = (self.ancestors.iter().zip(instance))
                .map(|(&ancestor, b)| (ancestor as usize * self.instances + b) as i64);
            let rows: Vec<i64> = rows.collect();
            let count = rows.len();
            Tensor::from_data(TensorData::new(rows, [count]), &latent.device())
        });
        let flat = latent.reshape([dims[0] * dims[1], dims[2..].iter().product()]);
        dims[0] = self.ancestors.len() / self.instances;
        flat.select(0, rows.clone()).reshape(dims)
    }
}

/// Makes a struct of latents, each with its rank, and its [`Particle`](crate::Particle):
///
/// ```
/// use burn::tensor::Tensor;
/// use burn_flex::Flex;
/// use helmholtz_apg::Particle;
///
/// helmholtz_apg::particle! {
///     /// A position and a label.
///     pub struct State<B> {
///         /// `[L, B, 2]`
///         position: 3,
///         /// `[L, B]`
///         label: 2,
///     }
/// }
/// let device = Default::default();
/// let state = State::<Flex> {
///     position: Tensor::from_floats([[[0.0, 1.0]], [[2.0, 3.0]]], &device),
///     label: Tensor::from_floats([[0.0], [1.0]], &device),
/// };
/// let state = state.gather(&[1, 1], 1);
/// assert_eq!(state.position.into_data().to_vec::<f32>().unwrap(), [2.0, 3.0, 2.0, 3.0]);
/// assert_eq!(state.label.into_data().to_vec::<f32>().unwrap(), [1.0, 1.0]);
/// ```
#[macro_export]
macro_rules! particle {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<B> {
            $($(#[$latent_meta:meta])* $latent:ident: $rank:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name<B: $crate::burn::tensor::backend::Backend> {
            $($(#[$latent_meta])* pub $latent: $crate::burn::tensor::Tensor<B, $rank>),+
        }

        impl<B: $crate::burn::tensor::backend::Backend> $crate::Particle for $name<B> {
            type Backend = B;

            fn map(self, mapper: &mut impl $crate::LatentMapper<B>) -> Self {
                Self {
                    $($latent: mapper.map(stringify!($latent), self.$latent)),+
                }
            }
        }
    };
}

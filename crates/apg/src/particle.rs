//! All latents of a model as one value.

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

    /// The same particles, known to no tape.
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

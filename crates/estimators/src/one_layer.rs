//! A model of one layer of bits from its few parts.

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise, Variables, uniforms};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::{Purpose, Stream};

use crate::Particles;

const DREAM: Purpose = Purpose::new("dreamt");

/// A model p(x | h) p(h), q(h | x) of one layer of bits, with any likelihood. [`one_layer!`](crate::one_layer)
/// makes all capabilities of a [`Model`](crate::Model) of it.
pub trait OneLayer<B: Backend> {
    /// Latent bits.
    fn bits(&self) -> usize;

    /// Logits of q(h | x), `[rows, bits]`, for data `[rows, visible]`.
    fn posterior(&self, x: Values<B>) -> Tensor<B, 2>;

    /// log p(x | h), nats, `[rows]`, for data `[rows, visible]` and latents `[rows, bits]`. Latents may be relaxed.
    fn likelihood(&self, x: Values<B>, h: Values<B>) -> Tensor<B, 1>;

    /// Draws x ~ p(x | h), `[rows, visible]`, for latents `[rows, bits]`.
    fn sample(&self, h: Values<B>, draws: &mut Stream) -> Tensor<B, 2>;

    /// Logits of p(h), `[1, bits]`; unless stated 0, fair bits.
    fn prior(&self, like: &Values<B>) -> Tensor<B, 2> {
        Tensor::zeros([1, self.bits()], (&like.device(), like.dtype()))
    }
}

/// A draw of as many (x̃, h) ~ p as there are data x; [`Dream::dream`](crate::Dream::dream) of a [`OneLayer`].
pub fn dream_one_layer<B: Backend>(
    model: &impl OneLayer<B>,
    x: Values<B>,
    noise: &mut impl Noise,
) -> (Values<B>, Particles<B>) {
    let shape = [x.dims()[0], model.bits()];
    let logits = model.prior(&x).expand(shape);
    let h = Bits(shape[1]).sample(logits, uniforms(shape, x.dtype(), &x.device(), noise));
    // Likelihoods may draw more than a uniform a number.
    let mut seed = [0.0; 2];
    noise.fill(&mut seed);
    let [low, high] = seed.map(|uniform: f32| u64::from(uniform.to_bits()));
    let mut draws = Stream::new(high << 32 | low, DREAM, [0, 0]);
    let dreamt = model.sample(h.clone(), &mut draws).detach();
    (dreamt.into(), Particles::new(vec![h]))
}

/// What [`one_layer!`](crate::one_layer) names.
#[doc(hidden)]
pub mod names {
    pub use helmholtz_distributions::{Bits, Noise};
    pub use helmholtz_ops::{Backend, Values};
    pub use helmholtz_samplers::Latents;
}

/// Makes a model type that is a [`OneLayer`](crate::OneLayer) a [`Propose`](crate::Propose), [`Layered`](crate::Layered),
/// [`Joint`](crate::Joint), [`Factored`](crate::Factored), [`Dream`](crate::Dream) and [`Parts`](crate::Parts): its fields of
/// parameters are named, those of p and those of q. `one_layer!(Mine { generative: decoder; inference: encoder });`
#[macro_export]
macro_rules! one_layer {
    ($model:ident { generative: $($theta:ident),+; inference: $($phi:ident),+ }) => {
        const _: () = {
            use $crate::burn::tensor::Tensor;
            use $crate::names::{Backend, Bits, Latents, Noise, Values};
            use $crate::burn::module::{ParamId, list_param_ids};
            use $crate::{
                Dream, Factored, Joint, Layered, OneLayer, Particles, Parts, Proposals, Propose,
            };

            impl<B: Backend> Propose<B> for $model<B> {
                type Encoded = Tensor<B, 2>;

                fn latents(&self) -> Latents {
                    Latents::new(&[OneLayer::<B>::bits(self)]).expect("a layer of bits")
                }

                fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
                    self.posterior(x.into())
                }

                fn propose(
                    &self,
                    logits: &Tensor<B, 2>,
                    retained: Option<Particles<B>>,
                    count: usize,
                    noise: &mut impl Noise,
                ) -> Proposals<B> {
                    $crate::propose_layers(self, logits, retained, count, noise)
                }

                fn log_q(&self, logits: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
                    $crate::score_layers(self, logits, particles)
                }
            }

            impl<B: Backend> Layered<B> for $model<B> {
                type Variables = Bits;

                fn layers(&self) -> Vec<Bits> {
                    vec![Bits(OneLayer::<B>::bits(self))]
                }

                fn logits_above(&self, level: usize, _: impl Into<Values<B>>) -> Tensor<B, 2> {
                    unreachable!("there is no layer {level}")
                }
            }

            impl<B: Backend> Joint<B> for $model<B> {
                fn log_joint(
                    &self,
                    x: impl Into<Values<B>>,
                    particles: &Particles<B>,
                ) -> Tensor<B, 1> {
                    let factors = self.log_factors(x, particles).into_iter();
                    factors
                        .reduce(|sum, factor| sum + factor)
                        .expect("two factors")
                }
            }

            impl<B: Backend> Factored<B> for $model<B> {
                fn log_likelihood(
                    &self,
                    x: impl Into<Values<B>>,
                    particles: &Particles<B>,
                ) -> Tensor<B, 1> {
                    let x: Values<B> = x.into();
                    self.likelihood(x.cycle(particles.rows()), particles.layers()[0].clone())
                }

                fn prior_logits(
                    &self,
                    x: impl Into<Values<B>>,
                    _: &Particles<B>,
                ) -> Vec<Tensor<B, 2>> {
                    vec![self.prior(&x.into())]
                }
            }

            impl<B: Backend> Parts<B> for $model<B> {
                fn generative(&self) -> Vec<ParamId> {
                    [$(list_param_ids(&self.$theta)),+].concat()
                }

                fn inference(&self) -> Vec<ParamId> {
                    [$(list_param_ids(&self.$phi)),+].concat()
                }
            }

            impl<B: Backend> Dream<B> for $model<B> {
                fn dream(
                    &self,
                    x: impl Into<Values<B>>,
                    noise: &mut impl Noise,
                ) -> (Values<B>, Particles<B>) {
                    $crate::dream_one_layer(self, x.into(), noise)
                }
            }
        };
    };
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::DType;
    use helmholtz_ops::Flex;

    use super::*;

    /// Three bits, whose draws of x are the numbers of the stream themselves.
    struct Raw;

    impl OneLayer<Flex> for Raw {
        fn bits(&self) -> usize {
            3
        }

        fn posterior(&self, _: Values<Flex>) -> Tensor<Flex, 2> {
            unreachable!("a dream asks p alone")
        }

        fn likelihood(&self, _: Values<Flex>, _: Values<Flex>) -> Tensor<Flex, 1> {
            unreachable!("a dream scores nothing")
        }

        fn sample(&self, h: Values<Flex>, draws: &mut Stream) -> Tensor<Flex, 2> {
            let number = draws.below(1 << 20) as f32;
            Tensor::full([h.dims()[0], 1], number, &h.device())
        }
    }

    /// The latents' uniforms, then those of the seed.
    struct Given(Vec<f32>);

    impl Noise for Given {
        fn fill(&mut self, out: &mut [f32]) {
            out.iter_mut().for_each(|u| *u = self.0.remove(0));
        }
    }

    #[test]
    fn latents_are_fair_bits_and_both_uniforms_of_the_seed_count() {
        let x: Values<Flex> =
            Tensor::<Flex, 2>::zeros([1, 1], (&Default::default(), DType::F32)).into();
        let dream = |seed: [f32; 2]| {
            let uniforms = [&[0.1, 0.7, 0.4], &seed[..]].concat();
            let (dreamt, h) = dream_one_layer(&Raw, x.clone(), &mut Given(uniforms));
            let read = |values: &Values<Flex>| {
                values
                    .numbers()
                    .into_data()
                    .iter::<f32>()
                    .collect::<Vec<_>>()
            };
            (read(&dreamt), read(&h.layers()[0]))
        };
        let (first, h) = dream([0.3, 0.6]);
        assert_eq!(h, [1.0, 0.0, 1.0]);
        assert_eq!(dream([0.3, 0.6]).0, first);
        assert_ne!(dream([0.2, 0.6]).0, first);
        assert_ne!(dream([0.3, 0.5]).0, first);
    }
}

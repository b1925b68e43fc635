//! A model whose relaxed latents have no law given their values, for twins that must fail.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_distributions::{Bits, Noise, Relaxable, Variables};
use helmholtz_estimators::{Joint, Layered, Particles, Proposals, Propose};
use helmholtz_ops::Values;
use helmholtz_samplers::Latents;
use helmholtz_sbn::Sbn;

/// The network with `UnconditionalBits`.
#[derive(Module, Debug)]
pub struct Unconditional<B: Backend> {
    net: Sbn<B>,
    drawn: bool,
}

impl<B: Backend> Unconditional<B> {
    /// The same network, sharing its parameters.
    pub fn new(net: &Sbn<B>) -> Self {
        let net = net.clone();
        Self { net, drawn: false }
    }

    /// The same network whose conditional draw is right, and a constant of the logits.
    pub fn constant(net: &Sbn<B>) -> Self {
        let net = net.clone();
        Self { net, drawn: true }
    }
}

/// Bits whose noisy logits given the value are the noisy logits themselves: z̃ = z, and not only in value. Where they are `drawn`
/// they have their law, but no derivative in the logits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnconditionalBits {
    bits: Bits,
    drawn: bool,
}

impl Relaxable for UnconditionalBits {
    fn noisy(&self) -> usize {
        self.bits.noisy()
    }

    fn noise<B: helmholtz_ops::Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        self.bits.noise(uniforms)
    }

    fn perturb<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        self.bits.perturb(logits, noise)
    }

    fn harden<B: helmholtz_ops::Backend>(&self, z: Tensor<B, 2>) -> Tensor<B, 2> {
        self.bits.harden(z)
    }

    fn relax<B: helmholtz_ops::Backend>(
        &self,
        z: Tensor<B, 2>,
        temperature: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        self.bits.relax(z, temperature)
    }

    fn perturb_given<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        if self.drawn {
            let constant = logits.clone().detach();
            let none = (logits - constant.clone()) * 0.0;
            return self.bits.perturb_given(constant, values, noise) + none;
        }
        self.bits.perturb(logits, noise)
    }

    fn noise_given<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        if self.drawn {
            return self.bits.noise_given(logits, values, z);
        }
        z - logits
    }
}

impl Variables for UnconditionalBits {
    fn logits(&self) -> usize {
        self.bits.logits()
    }

    fn values(&self) -> usize {
        self.bits.values()
    }

    fn uniforms(&self) -> usize {
        self.bits.uniforms()
    }

    fn sample<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Values<B> {
        self.bits.sample(logits, uniforms)
    }

    fn log_prob<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 1> {
        self.bits.log_prob(logits, values)
    }

    fn score<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 2> {
        self.bits.score(logits, values)
    }

    fn mean<B: helmholtz_ops::Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        self.bits.mean(logits)
    }

    fn tangent<B: helmholtz_ops::Backend>(
        &self,
        logits: Tensor<B, 2>,
        m: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        self.bits.tangent(logits, m)
    }

    fn logits_of<B: helmholtz_ops::Backend>(&self, m: Tensor<B, 2>) -> Tensor<B, 2> {
        self.bits.logits_of(m)
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for Unconditional<B> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        self.net.latents()
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.net.encode(x)
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        self.net.propose(encoded, retained, particles, noise)
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        self.net.log_q(encoded, particles)
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for Unconditional<B> {
    type Variables = UnconditionalBits;

    fn layers(&self) -> Vec<UnconditionalBits> {
        let layers = self.net.layers().into_iter();
        layers
            .map(|bits| UnconditionalBits {
                bits,
                drawn: self.drawn,
            })
            .collect()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        self.net.logits_above(level, below)
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for Unconditional<B> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        self.net.log_joint(x, particles)
    }
}

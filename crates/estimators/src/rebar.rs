//! REBAR (Tucker, Mnih, Maddison, Lawson & Sohl-Dickstein 2017) and RELAX (Grathwohl, Choi, Wu, Roeder & Duvenaud 2018).

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, HasAutodiffModule, Module};
use burn::tensor::{Tensor, activation};
use helmholtz_distributions::Noise;
use helmholtz_ops::{AutodiffBackend, Backend};
use helmholtz_samplers::Info;

use crate::logit_gradient::{mean, repeat, surrogate, tracked};
use crate::{
    Controls, ControlsConfig, Estimate, EstimateError, Joint, Layered, Objective, Particles,
};

/// The control variate c of a layer's pre-sigmoid relaxation z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// η f(σ(z/τ)): REBAR.
    Relaxed,
    /// η f(σ(z/τ)) + r_ψ(x, z): RELAX.
    RelaxedAndFree,
    /// r_ψ(x, z): RELAX for an f that cannot be relaxed.
    Free,
}

/// For each layer, with z = a + ln u − ln(1 − u), b = 1\[z > 0\], and z̃ drawn from z's law given b:
///
/// g_a = (f(b) − c(z̃)) (b − σ(a)) + ∂c(z)/∂a − ∂c(z̃)/∂a
///
/// (Tucker et al. 2017, equation 6; Grathwohl et al. 2018, equation 8). Unbiased for every c. Layers below are hard; those
/// above are drawn hard for f(b), and are relaxed with the same noise in c(z) and c(z̃). τ, η and ψ descend the
/// single-sample variance Σ g_a², by differentiating through the gradients of c: a tape over a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebar {
    /// c.
    pub control: Control,
    /// Whether z̃ is coupled to z: its noise is chosen so that z̃ = z, and only the derivatives differ. Less variance, and
    /// one evaluation of c less.
    pub tied: bool,
}

impl Rebar {
    /// What it learns.
    pub const fn controls(&self) -> ControlsConfig {
        ControlsConfig {
            baselines: false,
            scales: 1,
            temperature: Some(0.5),
            critics: !matches!(self.control, Control::Relaxed),
        }
    }

    /// One gradient estimate for a batch x `[batch, visible]`, averaged over K draws a datum.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`].
    pub fn estimate<B, M>(
        &self,
        model: &M,
        controls: &Controls<B>,
        x: Tensor<B, 2>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: AutodiffModule<B> + Layered<B> + Joint<B> + HasAutodiffModule<Autodiff<B>>,
        M::InnerModule: Layered<B::InnerBackend> + Joint<B::InnerBackend>,
        M::TrainModule: Layered<Autodiff<B>> + Joint<Autodiff<B>>,
    {
        if particles == 0 {
            return Err(EstimateError::TooFewParticles { least: 1, given: 0 });
        }
        let logits = model.encode(x.clone());
        let inner = model.valid();
        let objective = Objective::new(&inner, x.clone().inner(), logits.clone().inner());
        let rows = particles * objective.batch();
        let path = objective.complete(Vec::new(), rows, noise);
        let relaxed = Relaxed {
            model: model.clone().no_grad().train::<Autodiff<B>>(),
            controls,
            x: x.clone(),
            logits: logits.clone().detach(),
            control: self.control,
        };

        let mut gradients = Vec::new();
        let mut variance: Option<Tensor<B, 1>> = None;
        for level in 0..path.layers().len() {
            let below = &path.layers()[..level];
            let a = repeat(objective.logits(below), rows);
            let u = objective.uniforms(&a, rows, noise).clamp(1e-7, 1.0 - 1e-7);
            let z = a.clone() + logit(u.clone());
            let b = z.clone().greater_elem(0.0).float().cast(z.dtype());
            let layers = [below, std::slice::from_ref(&b)].concat();
            let f = objective.value(&objective.complete(layers, rows, noise));
            let above = relaxed.noise_above(level, rows, noise);

            let p = activation::sigmoid(a.clone());
            let c = relaxed.evaluate(below, z, &above);
            // u given b, as a function of a: 1 − p (1 − v) for a one, v (1 − p) for a zero.
            let (given, conditional) = if self.tied {
                (u, None)
            } else {
                let v = objective.uniforms(&a, rows, noise);
                let one = (v.clone().neg() + 1.0) * p.clone();
                let one = one.neg() + 1.0;
                let zero = v * (p.clone().neg() + 1.0);
                let given = b.clone() * one + (b.clone().neg() + 1.0) * zero;
                let given = given.clamp(1e-7, 1.0 - 1e-7);
                let z = a.clone() + logit(given.clone());
                (given, Some(relaxed.evaluate(below, z, &above)))
            };
            let conditional = conditional.as_ref().unwrap_or(&c);
            // ∂z̃/∂a = 1 − (1 − p)/u for a one, 1 − p/(1 − u) for a zero.
            let one = (p.clone().neg() + 1.0) / given.clone();
            let zero = p.clone() / (given.neg() + 1.0);
            let jacobian = (b.clone() * one + (b.clone().neg() + 1.0) * zero).neg() + 1.0;

            let lift = |tensor| Tensor::<B, 2>::from_inner(tensor);
            let f = lift(f.reshape([rows, 1]));
            let signal = f - conditional.value.clone().reshape([rows, 1]);
            let gradient =
                signal * lift(b - p) + c.slope.clone() - conditional.slope.clone() * lift(jacobian);
            let squares = gradient.clone().square().sum().div_scalar(rows as f64);
            variance = Some(match variance {
                Some(sum) => sum + squares,
                None => squares,
            });
            gradients.push(gradient.inner());
        }
        let value = objective.value(&path);
        let surrogate = surrogate(model, logits, &path, gradients);
        let log_p = model.log_joint(x, &tracked(&path));
        Ok(Estimate {
            loss: (surrogate + log_p.sum()).div_scalar(-(rows as f64)),
            elbo: mean(value),
            live_rows: rows,
            info: Info::default(),
            controls: variance,
        })
    }
}

fn logit<B: Backend>(u: Tensor<B, 2>) -> Tensor<B, 2> {
    u.clone().log() - u.neg().log1p()
}

/// The control variate, and where it is evaluated: a tape in z over the tape in what is learned.
struct Relaxed<'a, B: AutodiffBackend, N> {
    model: N,
    controls: &'a Controls<B>,
    x: Tensor<B, 2>,
    logits: Tensor<B, 2>,
    control: Control,
}

/// c and ∂c/∂z, both with a gradient in what is learned.
struct Evaluated<B: AutodiffBackend> {
    /// `[rows]`.
    value: Tensor<B, 1>,
    /// `[rows, bits]`.
    slope: Tensor<B, 2>,
}

impl<B, N> Relaxed<'_, B, N>
where
    B: AutodiffBackend,
    N: Layered<Autodiff<B>> + Joint<Autodiff<B>>,
{
    /// Logistic noise for the layers above `level`.
    fn noise_above(
        &self,
        level: usize,
        rows: usize,
        noise: &mut impl Noise,
    ) -> Vec<Tensor<Autodiff<B>, 2>> {
        let uniforms = |&bits: &usize| {
            let shape = [rows, bits];
            let u = helmholtz_distributions::uniforms::<B>(
                shape,
                self.x.dtype(),
                &self.x.device(),
                noise,
            );
            Tensor::from_inner(logit(u.clamp(1e-7, 1.0 - 1e-7)))
        };
        self.model.layers()[level + 1..]
            .iter()
            .map(uniforms)
            .collect()
    }

    /// c at z, a constant, of the layer above `below`.
    fn evaluate(
        &self,
        below: &[Tensor<B::InnerBackend, 2>],
        z: Tensor<B::InnerBackend, 2>,
        above: &[Tensor<Autodiff<B>, 2>],
    ) -> Evaluated<B> {
        let rows = z.dims()[0];
        let z: Tensor<Autodiff<B>, 2> =
            Tensor::from_inner(Tensor::<B, 2>::from_inner(z)).require_grad();
        let level = below.len();
        let mut value: Option<Tensor<Autodiff<B>, 1>> = None;
        if self.control != Control::Free {
            let scale = Tensor::from_inner(self.controls.scale(level));
            value = Some(self.relaxed_value(below, z.clone(), above) * scale);
        }
        if self.control != Control::Relaxed {
            let x = repeat(self.controls.centred(self.x.clone()), rows);
            let input = Tensor::cat(vec![Tensor::from_inner(x), z.clone()], 1);
            let critic = self.controls.critics[level].clone().train::<Autodiff<B>>();
            let free = critic.forward(input);
            value = Some(match value {
                Some(relaxed) => relaxed + free,
                None => free,
            });
        }
        let value = value.expect("a control variate has a part");
        let gradients = value.clone().sum().backward();
        Evaluated {
            value: value.inner(),
            slope: z.grad(&gradients).expect("c depends on z"),
        }
    }

    /// f(σ(z/τ)), the layers above relaxed with their noise: `[rows]`.
    fn relaxed_value(
        &self,
        below: &[Tensor<B::InnerBackend, 2>],
        z: Tensor<Autodiff<B>, 2>,
        above: &[Tensor<Autodiff<B>, 2>],
    ) -> Tensor<Autodiff<B>, 1> {
        let temperature: Tensor<Autodiff<B>, 1> = Tensor::from_inner(self.controls.temperature());
        let temperature = temperature.reshape([1, 1]);
        let relax = |z: Tensor<Autodiff<B>, 2>| activation::sigmoid(z / temperature.clone());
        let constant = |layer: &Tensor<B::InnerBackend, 2>| {
            Tensor::from_inner(Tensor::<B, 2>::from_inner(layer.clone()))
        };
        let mut layers: Vec<Tensor<Autodiff<B>, 2>> = below.iter().map(constant).collect();
        layers.push(relax(z));
        for noise in above {
            let logits = self
                .model
                .logits_above(layers.len(), layers[layers.len() - 1].clone());
            layers.push(relax(logits + noise.clone()));
        }
        let layers = Particles::new(layers);
        let x = Tensor::from_inner(self.x.clone());
        let logits = Tensor::from_inner(self.logits.clone());
        self.model.log_joint(x, &layers) - self.model.log_q(&logits, &layers)
    }
}

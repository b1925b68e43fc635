//! REBAR (Tucker, Mnih, Maddison, Lawson & Sohl-Dickstein 2017) and RELAX (Grathwohl, Choi, Wu, Roeder & Duvenaud 2018).

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, HasAutodiffModule, Module};
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Relaxable, uniforms};
use helmholtz_ops::{AutodiffBackend, Values, cat, repeat_rows};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info};

use crate::logits::logit_gradient::{mean_loss, plus, surrogate, tracked};
use crate::objective::{Drawn, at_least};
use crate::{
    Batch, Controls, ControlsConfig, Declaration, Description, Estimate, EstimateError, Estimator,
    Joint, Layered, Learned, Particles, Target, Temperature,
};

/// The control variate c of a layer's noisy logits z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// η f(relax(z/τ)): REBAR.
    Relaxed,
    /// η f(relax(z/τ)) + r_ψ(x, z): RELAX.
    RelaxedAndFree,
    /// r_ψ(x, z): RELAX for an f that cannot be relaxed.
    Free,
}

/// For each layer, z is its logits a plus noise (logistic for bits, Gumbel for classes). Let b be the value that z stands for,
/// and z̃ drawn from z's law given b. The gradient is
///
/// g_a = (f(b) − c(z̃)) ∂ log q(b)/∂a + ∂c(z)/∂a − ∂c(z̃)/∂a
///
/// (Tucker et al. 2017, equation 6; Grathwohl et al. 2018, equation 8). Unbiased for every c. Layers below are hard;
/// those above are drawn hard for f(b), and are relaxed with the same noise in c(z) and c(z̃). The parameters τ, η and
/// ψ descend the single-sample variance Σ g_a², by differentiating through the gradients of c: a tape over a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebar {
    /// c.
    pub control: Control,
    /// Whether z̃ is coupled to z: its noise is chosen so that z̃ = z, and only the derivatives differ. Less variance, and
    /// one evaluation of c less.
    pub tied: bool,
}

impl Rebar {
    /// REBAR and RELAX as the catalogue has them.
    pub const FORMS: [Self; 5] = [
        Self::of(Control::Relaxed, false),
        Self::of(Control::Relaxed, true),
        Self::of(Control::RelaxedAndFree, false),
        Self::of(Control::RelaxedAndFree, true),
        Self::of(Control::Free, false),
    ];

    const fn of(control: Control, tied: bool) -> Self {
        Self { control, tied }
    }
}

impl Declaration for Rebar {
    fn description(&self) -> Description {
        let (name, label, idea) = match (self.control, self.tied) {
            (Control::Relaxed, false) => ("rebar", "REBAR", "relaxed f as control variate"),
            (Control::Relaxed, true) => (
                "rebar-tied",
                "REBAR (tied noise)",
                "REBAR with the conditional noise coupled",
            ),
            (Control::RelaxedAndFree, false) => {
                ("relax", "RELAX", "REBAR plus a free-form control variate")
            }
            (Control::RelaxedAndFree, true) => (
                "relax-tied",
                "RELAX (tied noise)",
                "RELAX with the conditional noise coupled",
            ),
            (Control::Free, _) => (
                "relax-all",
                "RELAX (all)",
                "a free-form control variate alone",
            ),
        };
        Description {
            name,
            label,
            idea,
            target: Target::Elbo,
        }
    }

    /// Values of f, relaxed or not: f itself, and those of c that relax it.
    fn evaluations(&self, particles: usize, layers: usize, _retained: bool) -> usize {
        let each = match (self.control, self.tied) {
            (Control::Free, _) => 1,
            (_, true) => 2,
            (_, false) => 3,
        };
        each * particles * layers
    }

    fn controls(&self) -> ControlsConfig {
        ControlsConfig {
            scales: 1,
            temperature: Some(Temperature::Logarithm(0.5)),
            critics: !matches!(self.control, Control::Relaxed),
            ..ControlsConfig::AS_REBAR
        }
    }
}

impl<B, V, M> Estimator<B, M> for Rebar
where
    B: AutodiffBackend,
    V: Relaxable,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Joint<B> + HasAutodiffModule<Autodiff<B>>,
    M::InnerModule: Layered<B::InnerBackend, Variables = V> + Joint<B::InnerBackend>,
    M::TrainModule: Layered<Autodiff<B>, Variables = V> + Joint<Autodiff<B>>,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        _chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        self.estimate(model, learned.trained(), batch.x, batch.particles, noise)
    }
}

impl Rebar {
    /// One gradient estimate for a batch x `[batch, visible]`, averaged over K draws a datum.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
    ///
    /// # Panics
    /// If `controls` are not made of [`controls`](Declaration::controls), or are of fewer layers than the model.
    pub fn estimate<B, V, M>(
        &self,
        model: &M,
        controls: &Controls<B>,
        x: impl Into<Values<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        V: Relaxable,
        M: AutodiffModule<B>
            + Layered<B, Variables = V>
            + Joint<B>
            + HasAutodiffModule<Autodiff<B>>,
        M::InnerModule: Layered<B::InnerBackend, Variables = V> + Joint<B::InnerBackend>,
        M::TrainModule: Layered<Autodiff<B>, Variables = V> + Joint<Autodiff<B>>,
    {
        let x: Values<B> = x.into();
        at_least(1, particles, &x)?;
        let drawn = Drawn::new(model, &x, particles, noise);
        let (objective, path, rows) = (&drawn.objective, &drawn.path, drawn.rows);
        let relaxed = Relaxed {
            model: model.clone().no_grad().train::<Autodiff<B>>(),
            controls,
            x: x.clone(),
            logits: drawn.logits.clone().detach(),
            control: self.control,
        };

        let mut gradients = Vec::new();
        let mut variance: Option<Tensor<B, 1>> = None;
        for (level, variables) in objective.layers().into_iter().enumerate() {
            let below = &path.layers()[..level];
            let a = repeat_rows(objective.logits(below), rows);
            let u = objective.uniforms(rows, variables.noisy(), noise);
            let own = variables.noise(u);
            let z = variables.perturb(a.clone(), own.clone());
            let b = variables.harden(z.clone());
            let layers = [below, &[Values::binary(b.clone())]].concat();
            let f = objective.value(&objective.complete(layers, rows, noise));
            let above = relaxed.noise_above(level, rows, noise);

            let c = relaxed.evaluate(below, z.clone(), &above);
            let (fresh, conditional) = if self.tied {
                (variables.noise_given(a.clone(), b.clone(), z), None)
            } else {
                let v = objective.uniforms(rows, variables.noisy(), noise);
                let fresh = variables.noise(v);
                let z = variables.perturb_given(a.clone(), b.clone(), fresh.clone());
                (fresh, Some(relaxed.evaluate(below, z, &above)))
            };
            let conditional = conditional.as_ref().unwrap_or(&c);

            let lift = |tensor| Tensor::<B, 2>::from_inner(tensor);
            let nested = |tensor| Tensor::<Autodiff<B>, 2>::from_inner(lift(tensor));
            let free = pull(&c.slope, lift(a.clone()), |a| {
                variables.perturb(a, nested(own))
            });
            let given = pull(&conditional.slope, lift(a.clone()), |a| {
                variables.perturb_given(a, nested(b.clone()), nested(fresh))
            });
            let f = lift(f.reshape([rows, 1]));
            let signal = f - conditional.value.clone().reshape([rows, 1]);
            let gradient = signal * lift(variables.score(a, b)) + free - given;
            let squares = gradient.clone().square().sum();
            variance = Some(plus(variance, squares.mul_scalar(1.0 / rows as f64)));
            gradients.push(gradient.inner());
        }
        let surrogate = surrogate(model, drawn.logits.clone(), path, gradients);
        let log_p = model.log_joint(x, &tracked(path));
        Ok(Estimate {
            loss: mean_loss(surrogate + log_p.clone().sum(), rows),
            elbo: drawn.elbo(log_p),
            live_rows: rows,
            info: Info::default(),
            controls: variance,
        })
    }
}

/// slopeᵀ ∂z/∂a of each row, for z(a), with a gradient in what the slope depends on.
fn pull<B: AutodiffBackend>(
    slope: &Tensor<B, 2>,
    a: Tensor<B, 2>,
    z: impl FnOnce(Tensor<Autodiff<B>, 2>) -> Tensor<Autodiff<B>, 2>,
) -> Tensor<B, 2> {
    let a = Tensor::from_inner(a).require_grad();
    let product = (z(a.clone()) * Tensor::from_inner(slope.clone())).sum();
    a.grad(&product.backward()).expect("z depends on a")
}

/// The control variate, and where it is evaluated: a tape in z over the tape in what is learned.
struct Relaxed<'a, B: AutodiffBackend, N> {
    model: N,
    controls: &'a Controls<B>,
    x: Values<B>,
    logits: Tensor<B, 2>,
    control: Control,
}

/// c and ∂c/∂z, both with a gradient in what is learned.
struct Evaluated<B: AutodiffBackend> {
    /// `[rows]`.
    value: Tensor<B, 1>,
    /// `[rows, noisy]`.
    slope: Tensor<B, 2>,
}

impl<B, N> Relaxed<'_, B, N>
where
    B: AutodiffBackend,
    N: Layered<Autodiff<B>, Variables: Relaxable> + Joint<Autodiff<B>>,
{
    /// Noise for the layers above `level`.
    fn noise_above(
        &self,
        level: usize,
        rows: usize,
        noise: &mut impl Noise,
    ) -> Vec<Tensor<Autodiff<B>, 2>> {
        let (dtype, device) = (self.x.dtype(), self.x.device());
        let above = &self.model.layers()[level + 1..];
        let noise = above.iter().map(|variables| {
            let u = uniforms::<B>([rows, variables.noisy()], dtype, &device, noise);
            Tensor::from_inner(variables.noise(u))
        });
        noise.collect()
    }

    /// c at z, a constant, of the layer above `below`.
    fn evaluate(
        &self,
        below: &[Values<B::InnerBackend>],
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
            let x = repeat_rows(self.controls.centred(self.x.numbers()), rows);
            let input = cat(vec![Tensor::from_inner(x), z.clone()], 1);
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

    /// f(relax(z/τ)), the layers above relaxed with their noise: `[rows]`.
    fn relaxed_value(
        &self,
        below: &[Values<B::InnerBackend>],
        z: Tensor<Autodiff<B>, 2>,
        above: &[Tensor<Autodiff<B>, 2>],
    ) -> Tensor<Autodiff<B>, 1> {
        let temperature: Tensor<Autodiff<B>, 1> = Tensor::from_inner(self.controls.temperature());
        let temperature = temperature.reshape([1, 1]);
        let variables = self.model.layers();
        let constant = |layer: &Values<B::InnerBackend>| {
            Values::from_inner(Values::<B>::from_inner(layer.clone()))
        };
        let mut layers: Vec<Values<Autodiff<B>>> = below.iter().map(constant).collect();
        layers.push(variables[below.len()].relax(z, temperature.clone()).into());
        for noise in above {
            let level = layers.len();
            let logits = self.model.logits_above(level, layers[level - 1].clone());
            let z = variables[level].perturb(logits, noise.clone());
            layers.push(variables[level].relax(z, temperature.clone()).into());
        }
        let layers = Particles::new(layers);
        let x = Values::from_inner(self.x.clone());
        let logits = Tensor::from_inner(self.logits.clone());
        self.model.log_joint(x, &layers) - self.model.log_q(&logits, &layers)
    }
}

//! A model of one bit a and N bits c_n with everything known:
//!
//! ln p(x, a, c) = ln Bern(a; θ) + Σ_n ln Bern(c_n; α_n + β_n a) + x_n c_n,
//!
//! Bern by logits, and a proposal with logits φ₀ of a in one shot, φ_a0 + Σ_n φ_an c_n of a given c, and φ_cn(a) of c_n
//! given a.

use burn::module::{Module, Param};
use burn::tensor::{DType, Tensor, TensorData, activation::softplus, backend::Backend};
use helmholtz_apg::{Conditional, Model, OneShot, Proposal, Rescore, particle};
use helmholtz_random::Chance;

pub const F64: DType = DType::F64;

/// α_n, β_n for up to two data.
pub const ALPHA: [f64; 2] = [0.4, -0.9];
pub const BETA: [f64; 2] = [1.3, -0.7];

/// The parameters of the tests: θ, φ₀, φ_a (3), φ_c (2 × 2, by datum).
pub const PARAMETERS: [f64; 9] = [0.3, -0.5, 0.2, 0.9, -0.6, -0.3, 1.1, 0.5, -0.8];

particle! {
    /// Bits.
    pub struct Bits<B> {
        /// `[L, B, 1]`
        a: 3,
        /// `[L, B, N]`
        c: 3,
    }
}

#[derive(Module, Debug)]
pub struct Toy<B: Backend> {
    pub theta: Param<Tensor<B, 1>>,
    pub one_shot: Param<Tensor<B, 1>>,
    pub phi_a: Param<Tensor<B, 1>>,
    pub phi_c: Param<Tensor<B, 1>>,
}

/// A tensor of numbers in f64.
pub fn tensor<B: Backend, const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<B, D> {
    let data = TensorData::new(values.to_vec(), shape);
    Tensor::from_data(data, (&Default::default(), F64))
}

pub fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

impl<B: Backend> Toy<B> {
    pub fn new(parameters: [f64; 9]) -> Self {
        let part =
            |from: usize, to: usize| Param::from_tensor(tensor(&parameters[from..to], [to - from]));
        Self {
            theta: part(0, 1),
            one_shot: part(1, 2),
            phi_a: part(2, 5),
            phi_c: part(5, 9),
        }
    }

    /// φ_cn(a), `[L, B, N]`.
    fn logits_of_c(&self, a: &Tensor<B, 3>, data: usize) -> Tensor<B, 3> {
        let table = self.phi_c.val().reshape([1, 1, 2, 2]).narrow(2, 0, data);
        let given = |value| table.clone().narrow(3, value, 1).reshape([1, 1, data]);
        given(0) + a.clone() * (given(1) - given(0))
    }
}

/// The first entries of a constant, `[1, 1, N]`.
fn constant<B: Backend>(values: [f64; 2], data: usize) -> Tensor<B, 3> {
    tensor(&values[..data], [1, 1, data])
}

/// ln Bern(value; logit).
fn bernoulli<B: Backend>(value: Tensor<B, 3>, logit: Tensor<B, 3>) -> Tensor<B, 3> {
    value * logit.clone() - softplus(logit, 1.0)
}

fn draw<B: Backend>(logits: &Tensor<B, 3>, chance: &mut (impl Chance + ?Sized)) -> Tensor<B, 3> {
    let bit = |logit| chance.choose(&[0.0, logit]).expect("finite") as f64;
    let bits: Vec<f64> = numbers(logits.clone()).into_iter().map(bit).collect();
    tensor(&bits, logits.dims())
}

/// The terms of datum n: `[L, B, N]`.
fn data_terms<B: Backend>(x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 3> {
    let data = x.dims()[1];
    let logits = constant(ALPHA, data) + z.a.clone() * constant(BETA, data);
    bernoulli(z.c.clone(), logits) + z.c.clone() * x.clone().unsqueeze()
}

impl<B: Backend> Model<B> for Toy<B> {
    /// `[B, N]`
    type Data = Tensor<B, 2>;
    type State = Bits<B>;

    fn log_joint(&self, x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 2> {
        let prior = bernoulli(z.a.clone(), self.theta.val().unsqueeze());
        (prior + data_terms(x, z).sum_dim(2)).squeeze_dim(2)
    }
}

impl<B: Backend, C: Chance + ?Sized> OneShot<B, C> for Toy<B> {
    fn propose(&self, x: &Tensor<B, 2>, particles: usize, chance: &mut C) -> Proposal<B, Bits<B>> {
        let [instances, data] = x.dims();
        let logit = self.one_shot.val().reshape([1, 1, 1]);
        let logit = logit.expand([particles, instances, 1]);
        let a = draw(&logit, chance);
        let logits = self.logits_of_c(&a, data);
        let c = draw(&logits, chance);
        let log_q = bernoulli(a.clone(), logit) + bernoulli(c.clone(), logits).sum_dim(2);
        Proposal {
            state: Bits { a, c },
            log_q: log_q.squeeze_dim(2),
        }
    }
}

impl<B: Backend> Rescore<B> for Toy<B> {
    fn log_one_shot(&self, x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 2> {
        let logit = self.one_shot.val().reshape([1, 1, 1]);
        let log_c = bernoulli(z.c.clone(), self.logits_of_c(&z.a, x.dims()[1]));
        (bernoulli(z.a.clone(), logit) + log_c.sum_dim(2)).squeeze_dim(2)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Law {
    Learned,
    Exact,
    Prior,
}

/// The block a.
#[derive(Clone, Copy, Debug)]
pub struct A(pub Law);

impl<B: Backend, C: Chance + ?Sized> Conditional<B, Toy<B>, C> for A {
    type Law = Tensor<B, 3>;

    fn name(&self) -> String {
        "a".into()
    }

    fn law(&self, model: &Toy<B>, x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 3> {
        let (data, c) = (x.dims()[1], z.c.clone());
        let theta = || model.theta.val().unsqueeze::<3>();
        match self.0 {
            Law::Learned => {
                let slopes = model.phi_a.val().narrow(0, 1, data).unsqueeze::<3>();
                (c * slopes).sum_dim(2) + model.phi_a.val().narrow(0, 0, 1).unsqueeze::<3>()
            }
            Law::Exact => {
                let high = constant(ALPHA, data) + constant(BETA, data);
                let ratio = bernoulli(c.clone(), high) - bernoulli(c, constant(ALPHA, data));
                ratio.sum_dim(2) + theta()
            }
            Law::Prior => z.a.zeros_like() + theta(),
        }
    }

    fn detach(&self, law: &Tensor<B, 3>) -> Tensor<B, 3> {
        law.clone().detach()
    }

    fn sample(&self, law: &Tensor<B, 3>, z: &Bits<B>, chance: &mut C) -> Bits<B> {
        Bits {
            a: draw(law, chance),
            c: z.c.clone(),
        }
    }

    fn log_prob(&self, law: &Tensor<B, 3>, z: &Bits<B>) -> Tensor<B, 3> {
        bernoulli(z.a.clone(), law.clone())
    }

    fn log_target(&self, model: &Toy<B>, x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 3> {
        model.log_joint(x, z).unsqueeze_dim(2)
    }
}

/// The local block c.
#[derive(Clone, Copy, Debug)]
pub struct Cs(pub Law);

impl<B: Backend, C: Chance + ?Sized> Conditional<B, Toy<B>, C> for Cs {
    type Law = Tensor<B, 3>;

    fn name(&self) -> String {
        "c".into()
    }

    fn law(&self, model: &Toy<B>, x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 3> {
        let data = x.dims()[1];
        let prior = constant(ALPHA, data) + z.a.clone() * constant(BETA, data);
        match self.0 {
            Law::Learned => model.logits_of_c(&z.a, data),
            Law::Exact => prior + x.clone().unsqueeze(),
            Law::Prior => prior,
        }
    }

    fn detach(&self, law: &Tensor<B, 3>) -> Tensor<B, 3> {
        law.clone().detach()
    }

    fn sample(&self, law: &Tensor<B, 3>, z: &Bits<B>, chance: &mut C) -> Bits<B> {
        Bits {
            a: z.a.clone(),
            c: draw(law, chance),
        }
    }

    fn log_prob(&self, law: &Tensor<B, 3>, z: &Bits<B>) -> Tensor<B, 3> {
        bernoulli(z.c.clone(), law.clone())
    }

    fn log_target(&self, _: &Toy<B>, x: &Tensor<B, 2>, z: &Bits<B>) -> Tensor<B, 3> {
        data_terms(x, z)
    }
}

/// All 2^(1+N) latents as particles of one instance.
pub fn all_states<B: Backend>(data: usize) -> Bits<B> {
    let count = 1 << (1 + data);
    let bit = |state: usize, i: usize| (state >> i & 1) as f64;
    let a: Vec<f64> = (0..count).map(|s| bit(s, 0)).collect();
    let c: Vec<f64> = (0..count)
        .flat_map(|s| (1..=data).map(move |i| bit(s, i)))
        .collect();
    Bits {
        a: tensor(&a, [count, 1, 1]),
        c: tensor(&c, [count, 1, data]),
    }
}

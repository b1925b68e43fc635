//! Geweke's joint-distribution test.

use helmholtz_random::Stream;

use crate::InvarianceError;
use crate::statistical::moments::Moments;
use crate::statistical::{Report, Share, ks};

/// Getting it right (Geweke, 2004): two simulators of the joint law of parameters θ and data x must agree.
///
/// * *Marginal-conditional*: θ ~ p(θ), x ~ p(x | θ), afresh each time.
/// * *Successive-conditional*: θ ← kernel for p(θ | x), x ~ p(x | θ), and on. If the kernel keeps p(θ | x) for every x,
///   this keeps p(θ, x).
///
/// No exact posterior draw is needed, only the simulator of the model. A fault in the model's own code, prior against
/// density, is found as well as one in the kernel.
///
/// Here many short successive-conditional chains start from exact joint draws, instead of a long one from anywhere. So
/// there is no burn-in, every state of every chain has the joint law if all is right, and chains are independent. Two
/// comparisons with known rates follow for every test function, each with half of the share:
/// * the *mean* over the chain against that over as many fresh draws, a z-test over chains (see
///   [`Unbiased`](crate::Unbiased)). Its standard error is that between chains, so autocorrelation along a chain is
///   accounted for exactly, without an estimate of it;
/// * the *law* at the end of the chain against a fresh draw, by the exact two-sample Kolmogorov-Smirnov test.
///
/// A small fault adds up along the chain: longer chains see more, until the chain has mixed. Use second moments and
/// log p(x | θ) as test functions besides θ itself; those of the mean comparison must have a variance.
///
/// ```
/// use helmholtz_invariance::{Geweke, Suite};
/// use helmholtz_invariance::random::{Draws, Stream};
///
/// let suite = Suite::new(7, 2);
/// // θ ~ N(0, 1), x | θ ~ N(θ, 1), so θ | x ~ N(x / 2, 1 / 2).
/// let test = Geweke::new(
///     |rng| rng.normal(),
///     |theta, rng| theta + rng.normal(),
///     |theta, x| vec![*theta, theta * theta, theta * x],
/// );
/// let gibbs = |theta: &mut f64, x: &f64, rng: &mut Stream| *theta = x / 2.0 + 0.5f64.sqrt() * rng.normal();
/// test.test(gibbs, suite.share("gibbs")?)?.assert_passed();
///
/// // The variance taken for the standard deviation.
/// let wrong = |theta: &mut f64, x: &f64, rng: &mut Stream| *theta = x / 2.0 + 0.5 * rng.normal();
/// test.test(wrong, suite.share("control")?)?.assert_failed();
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Geweke<P, D, F> {
    prior: P,
    data: D,
    functions: F,
    chains: usize,
    length: usize,
}

impl<T, X, P, D, F> Geweke<P, D, F>
where
    P: Fn(&mut Stream) -> T,
    D: Fn(&T, &mut Stream) -> X,
    F: Fn(&T, &X) -> Vec<f64>,
{
    /// `prior` draws θ, `data` draws x given θ, `functions` are what is compared, the same number always. 2000 chains of
    /// 10 steps.
    pub fn new(prior: P, data: D, functions: F) -> Self {
        Self {
            prior,
            data,
            functions,
            chains: 2000,
            length: 10,
        }
    }

    /// With this many chains, 1000 at least.
    pub fn chains(self, chains: usize) -> Self {
        Self { chains, ..self }
    }

    /// With this many steps a chain.
    pub fn length(self, length: usize) -> Self {
        Self { length, ..self }
    }

    /// Tests `step`, one transition for p(θ | x), and spends the share.
    ///
    /// # Errors
    /// [`InvarianceError::NotFinite`] on a test function that is not, [`InvarianceError::TooFewSamples`],
    /// [`InvarianceError::Length`] if the number of test functions varies.
    pub fn test(
        &self,
        step: impl Fn(&mut T, &X, &mut Stream),
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let test = share.name();
        let (mut ends, mut fresh) = (Vec::new(), Vec::new());
        let mut moments: Vec<Moments> = Vec::new();
        for chain in 0..self.chains {
            let mut rng = share.stream(0, chain);
            let mut theta = (self.prior)(&mut rng);
            let mut x = (self.data)(&theta, &mut rng);
            let mut successive = Mean::default();
            for _ in 0..self.length {
                step(&mut theta, &x, &mut rng);
                x = (self.data)(&theta, &mut rng);
                successive.add((self.functions)(&theta, &x), chain, test)?;
            }
            let mut rng = share.stream(1, chain);
            let mut marginal = Mean::default();
            for _ in 0..self.length {
                let theta = (self.prior)(&mut rng);
                let x = (self.data)(&theta, &mut rng);
                marginal.add((self.functions)(&theta, &x), chain, test)?;
            }
            moments.resize(successive.sum.len(), Moments::default());
            for (moments, (a, b)) in
                (moments.iter_mut()).zip(successive.sum.iter().zip(&marginal.sum))
            {
                moments.push((a - b) / self.length as f64);
            }
            ends.push(successive.last);
            fresh.push(marginal.last);
        }
        let half = 0.5 * share.rate();
        let mut comparisons = ks::columns("law of function", &ends, &fresh, test, half)?;
        for (i, m) in moments.iter().enumerate() {
            let name = format!("mean of function {i}");
            comparisons.push(m.z_test(&name, 0.0, test, half / moments.len() as f64)?);
        }
        Ok(Report {
            name: test.to_owned(),
            comparisons,
            ranks: Vec::new(),
        })
    }
}

/// The sum of test functions along a chain, and their last values.
#[derive(Default)]
struct Mean {
    sum: Vec<f64>,
    last: Vec<f64>,
}

impl Mean {
    fn add(&mut self, values: Vec<f64>, sample: usize, test: &str) -> Result<(), InvarianceError> {
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(InvarianceError::NotFinite {
                test: test.to_owned(),
                what: format!("function {i}"),
                sample,
                value: values[i],
            });
        }
        self.sum.resize(values.len(), 0.0);
        self.sum.iter_mut().zip(&values).for_each(|(s, v)| *s += v);
        self.last = values;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::Draws;

    use super::*;
    use crate::Suite;

    type Prior = fn(&mut Stream) -> f64;
    type Data = fn(&f64, &mut Stream) -> f64;
    type Functions = fn(&f64, &f64) -> Vec<f64>;

    /// θ ~ N(0, 1), x | θ ~ N(θ, 1).
    fn model() -> Geweke<Prior, Data, Functions> {
        let test: Geweke<Prior, Data, Functions> = Geweke::new(
            |rng| rng.normal(),
            |theta, rng| theta + rng.normal(),
            |theta, x| vec![*theta, theta * x],
        );
        test.chains(1000).length(4)
    }

    /// Correct code fails at the stated rate: at most 0.05 + 5 sd of 300 tests, with a kernel that hardly moves, so
    /// that the chain is highly autocorrelated.
    #[test]
    fn the_false_alarm_rate_holds_under_autocorrelation() {
        let lazy = |theta: &mut f64, x: &f64, rng: &mut Stream| {
            if rng.below(10) == 0 {
                *theta = x / 2.0 + 0.5f64.sqrt() * rng.normal();
            }
        };
        let failed = (0..300)
            .filter(|i| {
                let share = Suite::with_rate(0.05, 4, 1).share(&format!("test {i}"));
                !model().test(lazy, share.unwrap()).unwrap().passed()
            })
            .count();
        assert!(failed <= 33, "{failed}");
    }

    #[test]
    fn a_number_of_functions_that_varies_is_refused() {
        let uneven = Geweke::new(
            |rng: &mut Stream| rng.normal(),
            |_: &f64, _: &mut Stream| (),
            |theta: &f64, _: &()| vec![0.0; if *theta > 0.0 { 1 } else { 2 }],
        );
        let share = Suite::new(1, 1).share("uneven").unwrap();
        assert!(matches!(
            uneven.test(|_, _, _| {}, share),
            Err(InvarianceError::Length { .. })
        ));
    }
}

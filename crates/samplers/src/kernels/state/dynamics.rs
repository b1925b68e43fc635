//! Hamiltonian dynamics, discretised by leapfrog.

use helmholtz_random::Draws;

use crate::GradientTarget;

/// The dynamics of H(x, r) = -ln p(x) + ½ Σ r_i² / m_i (Duane, Kennedy, Pendleton and Roweth, 1987; Neal, 2011, §2.3).
#[derive(Clone, Debug)]
pub(crate) struct Dynamics<T> {
    pub target: T,
    /// The diagonal of the mass matrix; none for ones.
    pub mass: Option<Vec<f64>>,
}

/// A point of phase space, and what the dynamics need to know at its position.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub position: Vec<f64>,
    pub momentum: Vec<f64>,
    pub log_density: f64,
    pub gradient: Vec<f64>,
}

impl Phase {
    /// Whether the trajectory moves towards `start`, (x - x_0)' r < 0: its distance in the metric of the mass falls.
    pub fn turns_back_to(&self, start: &[f64]) -> bool {
        let away = (self.position.iter().zip(start)).map(|(x, from)| x - from);
        away.zip(&self.momentum).map(|(d, r)| d * r).sum::<f64>() < 0.0
    }
}

impl<T: GradientTarget> Dynamics<T> {
    /// The point (`position`, `momentum`), with the target evaluated there.
    pub fn phase(&self, position: Vec<f64>, momentum: Vec<f64>) -> Phase {
        let mut phase = Phase {
            gradient: vec![0.0; position.len()],
            log_density: 0.0,
            position,
            momentum,
        };
        self.evaluate(&mut phase);
        phase
    }

    /// A momentum of `n` coordinates from its law, N(0, m_i) each.
    ///
    /// # Panics
    /// If there are masses for another number of coordinates.
    pub fn momentum(&self, n: usize, chance: &mut (impl Draws + ?Sized)) -> Vec<f64> {
        if let Some(mass) = &self.mass {
            assert_eq!(mass.len(), n, "a mass per coordinate is needed");
        }
        (0..n)
            .map(|i| self.mass(i).sqrt() * chance.normal())
            .collect()
    }

    /// H (nats).
    pub fn energy(&self, phase: &Phase) -> f64 {
        let kinetic: f64 = phase
            .momentum
            .iter()
            .enumerate()
            .map(|(i, r)| 0.5 * r * r / self.mass(i))
            .sum();
        kinetic - phase.log_density
    }

    /// `steps` leapfrog steps: half a step of the momentum, a step of the position, half a step of the momentum.
    ///
    /// Reversible (turn the momentum and go back), volume-preserving, with an energy error of order ε² over a fixed
    /// time.
    pub fn leapfrog(&self, phase: &mut Phase, step_size: f64, steps: usize) {
        for _ in 0..steps {
            kick(phase, 0.5 * step_size);
            for (i, (x, r)) in phase.position.iter_mut().zip(&phase.momentum).enumerate() {
                *x += step_size * r / self.mass(i);
            }
            self.evaluate(phase);
            kick(phase, 0.5 * step_size);
        }
    }

    fn evaluate(&self, phase: &mut Phase) {
        phase.gradient.fill(0.0);
        phase.log_density = self
            .target
            .log_density_and_gradient(&phase.position, &mut phase.gradient);
    }

    fn mass(&self, i: usize) -> f64 {
        self.mass.as_ref().map_or(1.0, |mass| mass[i])
    }
}

fn kick(phase: &mut Phase, time: f64) {
    for (r, g) in phase.momentum.iter_mut().zip(&phase.gradient) {
        *r += time * g;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln p = -x⁴/4 - x²/2 + x y - y², which couples its coordinates and is not a parabola.
    fn quartic(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient[0] -= x[0].powi(3) + x[0] - x[1];
        gradient[1] += x[0] - 2.0 * x[1];
        -x[0].powi(4) / 4.0 - x[0] * x[0] / 2.0 + x[0] * x[1] - x[1] * x[1]
    }

    type Field = fn(&[f64], &mut [f64]) -> f64;

    fn dynamics() -> Dynamics<Field> {
        Dynamics {
            target: quartic as Field,
            mass: Some(vec![0.7, 2.5]),
        }
    }

    /// (x, y, r_x, r_y) after `steps` steps.
    type Flow = fn(&Dynamics<Field>, &mut Phase, f64, usize);

    fn leapfrog(dynamics: &Dynamics<Field>, phase: &mut Phase, step_size: f64, steps: usize) {
        dynamics.leapfrog(phase, step_size, steps);
    }

    /// Twin: Euler's method, momentum and position from the same old point.
    fn euler(dynamics: &Dynamics<Field>, phase: &mut Phase, step_size: f64, steps: usize) {
        for _ in 0..steps {
            let old = phase.momentum.clone();
            kick(phase, step_size);
            for (i, (x, r)) in phase.position.iter_mut().zip(&old).enumerate() {
                *x += step_size * r / dynamics.mass(i);
            }
            dynamics.evaluate(phase);
        }
    }

    fn flow(flow: Flow, from: [f64; 4], step_size: f64, steps: usize) -> [f64; 4] {
        let dynamics = dynamics();
        let mut phase = dynamics.phase(from[..2].to_vec(), from[2..].to_vec());
        flow(&dynamics, &mut phase, step_size, steps);
        [
            phase.position[0],
            phase.position[1],
            phase.momentum[0],
            phase.momentum[1],
        ]
    }

    const START: [f64; 4] = [0.8, -0.5, 1.1, 0.6];

    fn distance(a: [f64; 4], b: [f64; 4]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    }

    /// The distance from where it started after 30 steps, a turn of the momentum, 30 steps and another turn.
    fn return_error(method: Flow) -> f64 {
        let turned = |[x, y, r, s]: [f64; 4]| [x, y, -r, -s];
        let there = flow(method, START, 0.1, 30);
        assert!(distance(there, START) > 0.1, "the position moves");
        distance(turned(flow(method, turned(there), 0.1, 30)), START)
    }

    #[test]
    fn leapfrog_is_reversible_and_eulers_method_is_not() {
        assert!(return_error(leapfrog) < 1e-12);
        assert!(return_error(euler) > 1e-2);
    }

    /// The determinant of the flow's Jacobian, by central differences.
    fn volume(method: Flow) -> f64 {
        let h = 1e-5;
        let mut jacobian = [[0.0; 4]; 4];
        for (j, column) in jacobian.iter_mut().enumerate() {
            let shifted = |by: f64| {
                let mut from = START;
                from[j] += by;
                flow(method, from, 0.1, 10)
            };
            let (up, down) = (shifted(h), shifted(-h));
            *column = std::array::from_fn(|i| (up[i] - down[i]) / (2.0 * h));
        }
        determinant(jacobian)
    }

    /// By elimination without pivoting.
    fn determinant(mut a: [[f64; 4]; 4]) -> f64 {
        let mut product = 1.0;
        for k in 0..4 {
            product *= a[k][k];
            let pivot = a[k];
            for row in a.iter_mut().skip(k + 1) {
                let factor = row[k] / pivot[k];
                (k..4).for_each(|j| row[j] -= factor * pivot[j]);
            }
        }
        product
    }

    #[test]
    fn leapfrog_preserves_volume_and_eulers_method_does_not() {
        assert!((volume(leapfrog) - 1.0).abs() < 1e-8);
        assert!((volume(euler) - 1.0).abs() > 1e-2);
    }

    /// The slope of ln |energy error| against ln ε over a path of time 1.2.
    fn slope(method: Flow) -> f64 {
        let error = |steps: usize| {
            let dynamics = dynamics();
            let mut phase = dynamics.phase(START[..2].to_vec(), START[2..].to_vec());
            let before = dynamics.energy(&phase);
            method(&dynamics, &mut phase, 1.2 / steps as f64, steps);
            (dynamics.energy(&phase) - before).abs().ln()
        };
        (error(64) - error(512)) / 8f64.ln()
    }

    #[test]
    fn the_energy_error_is_of_second_order_and_of_first_for_eulers_method() {
        assert!((slope(leapfrog) - 2.0).abs() < 0.02);
        assert!((slope(euler) - 1.0).abs() < 0.2);
    }

    #[test]
    fn the_gradient_of_the_test_is_right() {
        let (x, h) = ([0.3, -0.9], 1e-6);
        let mut gradient = [0.0; 2];
        quartic(&x, &mut gradient);
        for i in 0..2 {
            let at = |by: f64| {
                let mut shifted = x;
                shifted[i] += by;
                quartic(&shifted, &mut [0.0; 2])
            };
            assert!((gradient[i] - (at(h) - at(-h)) / (2.0 * h)).abs() < 1e-8);
        }
    }
}

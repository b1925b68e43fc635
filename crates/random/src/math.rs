//! The functions of a real number that `core` does not have.

#[cfg(feature = "std")]
mod functions {
    pub fn ln(x: f64) -> f64 {
        x.ln()
    }

    pub fn exp(x: f64) -> f64 {
        x.exp()
    }

    pub fn exp_m1(x: f64) -> f64 {
        x.exp_m1()
    }
}

#[cfg(not(feature = "std"))]
mod functions {
    pub use libm::{exp, expm1 as exp_m1, log as ln};
}

pub(crate) use functions::{exp, exp_m1, ln};

#[cfg(test)]
mod tests {
    /// Those of `libm` are those of the standard library but for rounding.
    #[test]
    fn both_libraries_agree() {
        for i in -2000..2000 {
            let x = 0.37 * f64::from(i);
            let near = |a: f64, b: f64| a == b || (a / b - 1.0).abs() < 1e-14;
            assert!(near(libm::exp(x), super::exp(x)), "{x}");
            assert!(near(libm::expm1(x), super::exp_m1(x)), "{x}");
            assert!(near(libm::log(x.abs()), super::ln(x.abs())), "{x}");
        }
        assert_eq!(super::exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(super::ln(0.0), f64::NEG_INFINITY);
    }
}

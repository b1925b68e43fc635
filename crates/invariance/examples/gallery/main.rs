//! Prints the table of the negative-control gallery: what is wrong, which test finds it, and with how many samples.
//!
//! `cargo run -p helmholtz-invariance --example gallery`

mod specimens;

fn main() -> Result<(), helmholtz_invariance::InvarianceError> {
    print!("{}", specimens::table()?);
    Ok(())
}

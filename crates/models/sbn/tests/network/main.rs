//! The networks are what they are said to be. Tested are the named nets number by number, and any network's densities and draws
//! against a second version of them, written out in plain f64.

mod centred;
mod densities;
mod draws;
mod mixed;
mod named;
mod written_out;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Tensor, backend::Backend};

/// One parameter: its shape and its values.
struct Parameter {
    shape: Vec<usize>,
    values: Vec<f64>,
}

/// All parameters in visiting order.
fn parameters<B: Backend>(model: &impl Module<B>) -> Vec<Parameter> {
    struct Collect(Vec<Parameter>);
    impl<B: Backend> ModuleVisitor<B> for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.push(Parameter {
                shape: param.val().dims().to_vec(),
                values: param.val().into_data().iter::<f64>().collect(),
            });
        }
    }
    let mut collect = Collect(vec![]);
    model.visit(&mut collect);
    collect.0
}

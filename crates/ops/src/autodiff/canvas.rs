//! Images.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, unary};

use crate::{Backend, Pieces};

#[derive(Debug)]
pub struct AddPieces;

impl<B: Backend> Backward<B, 1> for AddPieces {
    type State = ([usize; 2], Pieces, f64);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (shape, pieces, weight) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::add_pieces_backward(grad, shape, &pieces, weight)
        });
    }
}

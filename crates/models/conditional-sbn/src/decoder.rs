//! The network of p(t | h, c), whose first layer meets each context once.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_nets::{Activation, Initialisation, Initialiser, Linear, Net};
use helmholtz_ops::{Values, linear, tanh};

/// Linear layers with tanh between them, from latents and context side by side to logits.
///
/// (h, c) W + b = (h W_h + b) + c W_c: the last term is computed once a datum, whatever the number of particles.
#[derive(Module, Debug)]
pub struct Decoder<B: Backend> {
    /// From (h, c).
    first: Linear<B>,
    /// From the first tanh layer on.
    rest: Net<B>,
    /// Latent bits.
    latent: usize,
}

impl<B: Backend> Decoder<B> {
    /// From `latent` + `context` bits through `hidden` layers to `target` logits.
    pub fn init(
        draw: &mut Initialiser<B>,
        latent: usize,
        context: usize,
        hidden: &[usize],
        target: usize,
    ) -> Self {
        Self {
            first: draw.linear(latent + context, hidden[0], Initialisation::FanIn),
            rest: draw.net(
                &[hidden, &[target]].concat(),
                Activation::Tanh,
                Initialisation::FanIn,
            ),
            latent,
        }
    }
}

impl<B: helmholtz_ops::Backend> Decoder<B> {
    /// The logits `[rows, target]` given latents `[rows, latent]` and contexts `[batch, context]`, which repeat cyclically.
    pub fn forward(&self, h: Values<B>, context: Values<B>) -> Tensor<B, 2> {
        let [rows, latent] = h.dims();
        let [batch, given] = context.dims();
        assert_eq!(latent, self.latent, "as many latents as the model has");
        let (weight, bias) = (self.first.weight.val(), self.first.bias.val());
        let units = bias.dims()[0];
        let of_latents = linear(h, weight.clone().narrow(0, 0, latent), bias);
        let none = Tensor::zeros([units], (&weight.device(), weight.dtype()));
        let of_context = linear(context, weight.narrow(0, latent, given), none);
        let data = batch * units;
        let sum = of_latents.reshape([rows / batch, data]) + of_context.reshape([1, data]);
        self.rest.forward(tanh(sum.reshape([rows, units])))
    }
}

"""Times a training step of coix, a JAX library of population Gibbs, beside ours: the same shapes, one core, in turn.

    git clone https://github.com/jax-ml/coix
    python3 -m venv env && env/bin/pip install coix==0.1.0 "jax[cpu]" flax optax numpyro numpy
    env/bin/python crates/apg/benches/beside_coix.py coix/examples

A round is coix's step on each model, then ours by `cargo bench --bench step`, which is built before the first round. Times are
processor time of the whole program, so that other work on the machine adds nothing. The table has medians over rounds, and
the least and the greatest ratio of a round.

Models, nets and losses are those of coix's own examples; shapes are changed where ours differ. Steps are compiled by XLA, and
the first is not timed. coix's sweeps exclude the one-shot proposal, ours count it: nine are ten.
"""

import argparse
import functools
import os
import re
import statistics
import subprocess
import sys
import time
from unittest.mock import MagicMock

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
# What the examples import for their data and their pictures.
for name in [
    "tensorflow", "tensorflow_datasets", "matplotlib", "matplotlib.pyplot", "matplotlib.patches", "matplotlib.animation",
]:  # fmt: skip
    sys.modules.setdefault(name, MagicMock())

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

# The tracker's preset for a CPU: pixels of a digit's side and of a canvas's, frames, digits, instances.
DIGIT, CANVAS, FRAMES, DIGITS, SEQUENCES = 14, 48, 6, 2, 5


def mixtures():
    """The Gaussian mixtures: K = 10, L = 10, B = 20, N = 60."""
    import gmm

    x, _ = gmm.simulate_clusters(20, 60)
    return gmm.GMMEncoder(), gmm.loss_fn, x, x[0], 9, 10, 2.5e-4


def deep_mixtures():
    """The deep mixtures: K = 10, L = 10, B = 20, N = 200."""
    import dmm
    from numpyro.distributions import Beta

    # In single precision a draw can be 1 itself, where the density is infinite and the loss of the example no number.
    sample = Beta.sample
    Beta.sample = lambda self, *rest, **named: jnp.clip(sample(self, *rest, **named), 1e-6, 1 - 1e-6)
    x = dmm.simulate_rings(20, 200)
    return dmm.DMMAutoEncoder(), dmm.loss_fn, x, x[0], 9, 10, 5e-4


class SmallDecoder(nn.Module):
    """The decoder of a digit at the preset's size, which the example fixes at 28 x 28."""

    @nn.compact
    def __call__(self, z):
        for width in (200, 400):
            z = nn.relu(nn.Dense(width)(z))
        pixels = nn.sigmoid(nn.Dense(DIGIT * DIGIT)(z))
        return pixels.reshape(z.shape[:-1] + (DIGIT, DIGIT))


def tracker():
    """The tracker's preset for a CPU: K = 3, L = 10, B = 5, T = 6, D = 2, 48 x 48 pixels."""
    import bmnist

    crop = bmnist.crop_frames
    bmnist.crop_frames = lambda frames, where, digit_size=DIGIT: crop(frames, where, DIGIT)
    bmnist.DecoderWhat = SmallDecoder
    rng = np.random.default_rng(1)
    # Of zeros and ones: numpyro has no density of grey levels under a Bernoulli law.
    video = rng.uniform(size=(SEQUENCES, FRAMES, CANVAS, CANVAS)) < 0.05
    mean = rng.uniform(size=(DIGIT, DIGIT))
    net = bmnist.BMNISTAutoEncoder(digit_mean=jnp.asarray(mean), frame_size=CANVAS)
    return net, functools.partial(bmnist.loss_fn, bmnist_net=net), video, video[0], 2, 10, 1e-3


class Coix:
    """Training by coix, which keeps its parameters from round to round."""

    def __init__(self, net, loss, batch, one, sweeps, particles, rate):
        loss = functools.partial(loss, num_sweeps=sweeps, num_particles=particles)
        adam = optax.adam(rate)
        self.batch, self.number = jnp.asarray(batch, jnp.float32), 0
        self.parameters = net.init(jax.random.PRNGKey(0), jnp.asarray(one, jnp.float32))
        self.state = adam.init(self.parameters)

        @jax.jit
        def step(parameters, state, key, batch):
            (value, _), gradients = jax.value_and_grad(loss, has_aux=True)(parameters, key, batch)
            updates, state = adam.update(gradients, state, parameters)
            return optax.apply_updates(parameters, updates), state, value

        self.step = step
        start = time.time()
        self.seconds(1)
        self.compiled = time.time() - start

    def seconds(self, steps):
        """Processor seconds a step."""
        start = time.process_time()
        for _ in range(steps):
            key = jax.random.fold_in(jax.random.PRNGKey(1), self.number)
            self.number += 1
            self.parameters, self.state, value = self.step(self.parameters, self.state, key, self.batch)
        assert np.isfinite(float(value)), "a loss that is no number"
        return (time.process_time() - start) / steps


def ours(package):
    """Processor seconds a step, from what the bench prints."""
    # A filter that no benchmark of criterion's has: what is printed is measured before those.
    command = ["cargo", "bench", "--quiet", "--package", package, "--bench", "step", "--", "nothing"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"([0-9.]+) s of processor time a step", printed)
    assert found, f"no time in what {package} printed:\n{printed}"
    return float(found[1])


MODELS = {
    "helmholtz-gmm": (mixtures, 30),
    "helmholtz-dmm": (deep_mixtures, 5),
    "helmholtz-tracker": (tracker, 5),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", help="the folder of coix's examples")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.examples)

    print(f"jax {jax.__version__}; {arguments.rounds} rounds", flush=True)
    for package, (model, steps) in MODELS.items():
        theirs = Coix(*model())
        ours(package)
        rounds = [(theirs.seconds(steps), ours(package)) for _ in range(arguments.rounds)]
        ratios = sorted(a / b for a, b in rounds)
        a, b = (statistics.median(column) for column in zip(*rounds))
        print(
            f"{package}: coix {a:.4f} s, ours {b:.4f} s, ratio {statistics.median(ratios):.2f}"
            f" ({ratios[0]:.2f} to {ratios[-1]:.2f}); coix compiled for {theirs.compiled:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""A training step of coix's own examples beside ours, in turn, on one thread.

    python beside_coix.py MODEL EXAMPLES OURS...

MODEL is `gmm` or `dmm`. EXAMPLES is the folder `examples` of a checkout of https://github.com/jax-ml/coix; coix, flax and
optax are those of PyPI. OURS is the bench of the same model without criterion's part:
`cargo bench -p helmholtz-gmm --bench step -- nothing`. It prints steps a second, which are read from what it says.

Of the examples the nets, the model, the sampler and the loss are run as they are, at our sizes: K = 10 (coix counts sweeps
after the one-shot proposal), L = 10, B = 20, Adam 2.5e-4. What they import to load data and to draw is left out.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import importlib.util
import re
import statistics
import subprocess
import sys
import time
import unittest.mock
from functools import partial

ROUNDS, STEPS = 5, 30
SWEEPS, PARTICLES, BATCH = 9, 10, 20


def example(folder, name):
    """The example as a module, without what draws and what reads files."""
    for unused in ["matplotlib", "matplotlib.pyplot", "matplotlib.patches", "tensorflow"]:
        sys.modules[unused] = unittest.mock.MagicMock()
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def coix_step(folder, name):
    """A compiled training step; called, it makes one."""
    import jax
    import jax.numpy as jnp
    import optax

    module = example(folder, name)
    if name == "gmm":
        data, net = module.simulate_clusters(BATCH, 60), module.GMMEncoder()
    else:
        data, net = module.simulate_rings(BATCH, 200), module.DMMAutoEncoder()
    x = jnp.asarray(data[0], jnp.float32)
    params = net.init(jax.random.PRNGKey(0), x[0])
    loss = partial(module.loss_fn, num_sweeps=SWEEPS, num_particles=PARTICLES)
    adam = optax.adam(2.5e-4)

    @jax.jit
    def step(params, state, key):
        gradients, _ = jax.grad(loss, has_aux=True)(params, key, x)
        updates, state = adam.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    held = [params, adam.init(params), jax.random.PRNGKey(2)]

    def once():
        held[2], key = jax.random.split(held[2])
        held[0], held[1] = jax.block_until_ready(step(held[0], held[1], key))

    once()  # compiles
    return once


def coix_seconds(once):
    """Processor time of a step: the median."""
    times = []
    for _ in range(STEPS):
        start = time.process_time()
        once()
        times.append(time.process_time() - start)
    return statistics.median(times)


def our_seconds(command):
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return 1 / float(re.search(r"([\d.]+) steps(?:/s| a second)", said)[1])


def main():
    name, folder, *command = sys.argv[1:]
    once = coix_step(folder, name)
    ratios = []
    for _ in range(ROUNDS):
        theirs, ours = coix_seconds(once), our_seconds(command)
        ratios.append(theirs / ours)
        print(f"coix {theirs:.4f} s, ours {ours:.4f} s a step: {ratios[-1]:.2f}", flush=True)
    print(f"coix / ours: {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f} ({ROUNDS} pairs)")


if __name__ == "__main__":
    main()

"""Runs the released code of DISCS on the targets that the example `discs` writes, from the same states.

    git clone https://github.com/google-research/discs
    python3 -m venv env && env/bin/pip install "jax[cpu]==0.4.26" ml_collections numpy
    cargo run --release -p helmholtz-samplers --example discs -- --targets folder
    PYTHONPATH=discs env/bin/python crates/samplers/examples/discs/beside.py folder --steps 1000
    taskset -c 0 env/bin/python ... --time 3      (what a step takes on one core; the least of all times)
    taskset -c 0 cargo run --release -p helmholtz-samplers --example discs -- --beside folder --threads 1

For each model and sampler it writes the distances of all chains after the burn-in, and the microseconds that a step takes
divided by the chains, which are one batch. Every sampler has its published configuration, and adapts on as it is released.
"""

import argparse
import importlib
import json
import pathlib
import sys
import time
from unittest.mock import MagicMock

# What the modules of DISCS import and sampling does not use.
for name in [
    "tensorflow", "tensorflow_probability", "tensorflow_datasets", "pickle5", "pysat", "pysat.formula",
    "pysat.solvers", "pysat.examples", "pysat.examples.rc2", "clu", "clu.metric_writers",
    "clu.metric_writers.summary_writer", "flax", "flax.linen", "flax.jax_utils", "networkx", "optax", "tqdm",
]:  # fmt: skip
    sys.modules.setdefault(name, MagicMock())

import jax
import jax.numpy as jnp
import numpy as np
from ml_collections import config_dict

SMALL = ["gibbs", "blockgibbs", "hammingball"]  # a site or a block a step
LARGE = ["gwg", "path_auxiliary", "dmala"]
SMALL_STEPS = 10


def built(target, sampler):
    """The model, the sampler and the model's parameters."""
    task, given = target["task"], target["parameters"]
    model = importlib.import_module(f"discs.models.configs.{task}_config").get_config()
    if task in ("ising", "potts"):
        model.shape = (given["side"], given["side"])
        model.lambdaa = type(model.lambdaa)(given["lambda"])
    elif task == "bernoulli":
        model.shape = (len(given["logits"]),)
    else:
        model.shape = (len(given["seen"]), len(given["weights"]))
    if task == "potts":
        model.num_categories = given["values"]
    config = config_dict.ConfigDict({
        "model": model,
        "sampler": importlib.import_module(f"discs.samplers.configs.{sampler}_config").get_config(),
        "experiment": {"co_opt_prob": False, "num_categories": model.num_categories},
    })
    model = importlib.import_module(f"discs.models.{task}").build_model(config)
    parameters = model.make_init_params(jax.random.PRNGKey(0))
    if task in ("ising", "potts"):
        own = parameters["params"]
        parameters["params"] = own.at[2].set(jnp.array(given["b"]).reshape(own[2].shape))
    elif task == "bernoulli":
        parameters["params"] = jnp.array(given["logits"])
    else:
        parameters["w"] = jnp.array(given["weights"]).reshape(-1, 1)
        parameters["b"] = jnp.zeros((1, 1))
        parameters["y"] = jnp.array(given["seen"]).reshape(-1, 1)
    return model, importlib.import_module(f"discs.samplers.{sampler}").build_sampler(config), parameters


def states(target, model, rows):
    shape = model.shape if target["task"] != "potts" else model.sample_shape
    return jnp.array(rows, dtype=jnp.int32).reshape((-1,) + tuple(shape))


def check(target, model, parameters):
    """ln p of the starts, up to one constant."""
    x = states(target, model, target["starts"])
    if target["task"] == "potts":
        x = jax.nn.one_hot(x, model.num_categories)
    found = np.asarray(model.forward(parameters, x.astype(jnp.float32)), dtype=float)
    apart = found - np.array(target["log_p"])
    worst = np.abs(apart - apart[0]).max()
    print(f"  ln p agrees to {worst:.1e} of {np.ptp(target['log_p']):.0f} nats")
    assert worst < 1e-3 * max(1.0, np.ptp(target["log_p"])), apart


def run(target, sampler, steps, burn_in, length, seconds):
    model, sampler_, parameters = built(target, sampler)
    if sampler == "path_auxiliary":
        sampler_.num_flips = length
    x = states(target, model, target["starts"])
    chains = x.shape[0]
    state = sampler_.make_init_state(jax.random.PRNGKey(2))
    step = jax.jit(lambda key, x, state: sampler_.step(model, key, x, parameters, state))
    origin = states(target, model, [target["origin"]])
    distance = jax.jit(lambda x: jnp.sum(jnp.abs(x - origin).reshape(chains, -1), -1))
    keys = jax.random.split(jax.random.PRNGKey(4), steps + burn_in + 1)
    x, state, _ = step(keys[-1], x, state)
    x.block_until_ready()
    distances, elapsed = [], []
    for i, key in enumerate(keys[:-1]):
        before = time.perf_counter()
        x, state, _ = step(key, x, state)
        x.block_until_ready()
        elapsed.append(time.perf_counter() - before)
        if i >= burn_in and seconds is None:
            distances.append(np.asarray(distance(x)))
        if seconds is not None and sum(elapsed) > seconds:
            break
    # The median: other work on the machine makes some steps long.
    return np.array(distances, dtype=float).T.tolist(), 1e6 * float(np.median(elapsed)) / chains


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--steps", type=int, default=1000)
    arguments.add_argument("--length", type=int, default=1, help="the length that path_auxiliary starts with")
    arguments.add_argument("--samplers", default=",".join(SMALL + LARGE))
    arguments.add_argument("--time", type=float, help="only measure, for so many seconds each")
    arguments.add_argument("--only", default="", help="a part of the file's name")
    arguments = arguments.parse_args()
    targets = sorted(p for p in arguments.folder.glob("*.json") if "-" not in p.name)
    for path in (p for p in targets if arguments.only in p.name):
        target = json.loads(path.read_text())
        print(path.stem, flush=True)
        model, _, parameters = built(target, "gwg")
        check(target, model, parameters)
        for sampler in arguments.samplers.split(","):
            # On bits it makes several changes with replacement: not the kernel of that name here.
            if sampler == "gwg" and target["task"] != "potts":
                continue
            # Its adaptation starts from changes at all sites, and comes down by at most two a step.
            burn_in = 5000 if sampler == "dmala" else arguments.steps // 2
            steps = arguments.steps * (SMALL_STEPS if sampler in SMALL else 1)
            out = path.with_name(f"{path.stem}-{sampler}.json")
            distances, microseconds = run(target, sampler, steps, burn_in, arguments.length, arguments.time)
            if arguments.time is not None:
                before = json.loads(out.read_text())
                distances, microseconds = before["distances"], min(microseconds, before["microseconds"])
            out.write_text(json.dumps({"distances": distances, "microseconds": microseconds}))
            print(f"  {sampler:16} {microseconds:9.1f} us a step of a chain", flush=True)


if __name__ == "__main__":
    main()

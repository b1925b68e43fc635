"""Trains coix's tracker of bouncing digits, for ours to stand beside it after as many steps.

    env/bin/python crates/apg/benches/coix_training.py coix/examples --mnist FOLDER --steps 2000 --out checks.csv

`beside_coix.py` says how to make `env`. FOLDER has MNIST's files. Ours: an edited copy of `apg-bmnist.toml` with coix's model
(`step = 0.1`), `cargo xtask reproduce my-copy.toml --steps 2000`.

The example's crops are moved the wrong way, so that the net for appearances does not see the digit: a frame with one digit, cropped
where the digit is, gives zeros. `--mend-crops` turns them. Its convolution flips the template too, which is left.

Shapes are those of the preset for a CPU (K = 3, L = 10, B = 5, T = 6, D = 2, 48 x 48 pixels, Adam 1e-3). Model, nets and loss are
those of coix's example, which permutes the frames of a batch before each step. Sequences have the law of ours: a start U(-1, 1)^2,
0.3 a frame in a direction U(0, 2 pi), reflected at the border; training images, averaged to 14 x 14.

A check measures ten other sequences after one shot and after the sweeps: the squared error a frame of the posterior mean, the
distance of the posterior means of positions from the true ones in pixels, log Z, the log joint, ESS / L. It is written as it is made.
"""

import argparse
import csv
import gzip
import itertools
import pathlib
import time

import beside_coix as beside

jax, jnp, np, optax = beside.jax, beside.jnp, beside.np, beside.optax
DIGIT, CANVAS, FRAMES, DIGITS, SEQUENCES = (
    beside.DIGIT, beside.CANVAS, beside.FRAMES, beside.DIGITS, beside.SEQUENCES,
)  # fmt: skip
ROOM, SPEED, PARTICLES, SWEEPS, RATE = CANVAS - DIGIT, 0.3, 10, 2, 1e-3
# Sequences that are checked: batches as in training, since coix takes a batch of L for particles.
CHECKED = 2


def images(folder):
    """MNIST's training images, averaged to the preset's size: [60000, P, P] in [0, 1]."""
    data = gzip.decompress((pathlib.Path(folder) / "train-images-idx3-ubyte.gz").read_bytes())
    pixels = np.frombuffer(data, np.uint8, offset=16).reshape(-1, DIGIT, 28 // DIGIT, DIGIT, 28 // DIGIT)
    return pixels.mean((2, 4)).astype(np.float32) / 255


def sequences(rng, digits, count):
    """Frames [count, T, S, S] of bouncing digits, and the positions [count, D, T, 2] of their corners, (column, row) in pixels."""
    at = rng.uniform(-1, 1, (count, DIGITS, 2))
    turn = rng.uniform(0, 2 * np.pi, (count, DIGITS))
    by = SPEED * np.stack([np.cos(turn), np.sin(turn)], -1)
    path = []
    for _ in range(FRAMES):
        path.append(at)
        at = at + by
        beyond = np.abs(at) > 1
        at, by = np.where(beyond, 2 * np.sign(at) - at, at), np.where(beyond, -by, by)
    corners = (np.stack(path, 2) + 1) / 2 * ROOM
    video = np.zeros((count, FRAMES, CANVAS, CANVAS), np.float32)
    chosen = rng.integers(len(digits), size=(count, DIGITS))
    for b, d, t in itertools.product(range(count), range(DIGITS), range(FRAMES)):
        column, row = np.round(corners[b, d, t]).astype(int)
        video[b, t, row : row + DIGIT, column : column + DIGIT] += digits[chosen[b, d]]
    return np.minimum(video, 1), corners


def tracking_error(found, true):
    """The mean distance of paths [D, T, 2], digits matched."""
    distance = lambda order: np.linalg.norm(found[list(order)] - true, axis=-1).mean()
    return min(map(distance, itertools.permutations(range(DIGITS))))


def mended(bmnist):
    """The example's crops and digits on frames, with crops at the place that they are named for."""

    def scale_and_translate(image, where, out_size):
        move = (out_size - image.shape[-1]) * (where[..., ::-1] + 1) / 2
        shape, ones = (out_size, out_size), jnp.ones(2)
        return jax.image.scale_and_translate(image, shape, (0, 1), ones, move, method="cubic", antialias=False)

    bmnist.scale_and_translate = scale_and_translate


def sees(bmnist, digit):
    """How much of a digit its own crop shows."""
    frame = np.zeros((CANVAS, CANVAS), np.float32)
    frame[10 : 10 + DIGIT, 20 : 20 + DIGIT] = digit
    crop = bmnist.crop_frames(jnp.asarray(frame), jnp.asarray([20, 10]) / ROOM * 2 - 1)
    return float((crop * digit).sum() / (digit * digit).sum())


def measured(run, parameters, video, corners, key):
    """What one run on these sequences gives, means over them."""
    out, metrics = run(parameters, jnp.asarray(video), key)
    logs = np.asarray(metrics["log_weight"], np.float64)
    logs = logs.reshape(PARTICLES, len(video))
    top = logs.max(0)
    weights = np.exp(logs - top)
    log_z = top + np.log(weights.mean(0))
    weights /= weights.sum(0)
    mean = np.einsum("lb,lbtij->btij", weights, np.asarray(out["frames_recon"]))
    where = np.stack([np.asarray(out[f"z_where_{t}"]) for t in range(FRAMES)], -2)
    where = np.einsum("lb,lbdti->bdti", weights, where)
    errors = [tracking_error((z + 1) / 2 * ROOM, true) for z, true in zip(where, corners)]
    return {
        "mse": ((mean - video) ** 2).sum((2, 3)).mean(),
        "error": np.mean(errors),
        "log_evidence": log_z.mean(),
        "log_joint": float(metrics["log_density"]) / len(video),
        "ess": (1 / (weights**2).sum(0)).mean() / PARTICLES,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", help="the folder of coix's examples")
    parser.add_argument("--mnist", required=True, help="the folder of MNIST's files")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--check-every", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mend-crops", action="store_true", help="crops where they are named for")
    parser.add_argument("--out", required=True, help="the table of checks")
    arguments = parser.parse_args()
    beside.sys.path.insert(0, arguments.examples)
    import bmnist
    import coix
    from numpyro.distributions import BernoulliProbs, constraints

    # Grey levels, which the example's data have; numpyro 0.22 gives them no density otherwise.
    BernoulliProbs.support = constraints.unit_interval
    digits = images(arguments.mnist)
    other = np.random.default_rng([arguments.seed, 1])
    test = [sequences(other, digits, SEQUENCES) for _ in range(CHECKED)]
    rng = np.random.default_rng([arguments.seed, 0])
    # The preset's decoder and crops, which the timing has too.
    beside.tracker()
    if arguments.mend_crops:
        mended(bmnist)
    print(f"a digit's own crop shows {sees(bmnist, digits[0]):.2f} of it", flush=True)
    net = bmnist.BMNISTAutoEncoder(digit_mean=jnp.asarray(digits.mean(0)), frame_size=CANVAS)
    loss = beside.functools.partial(bmnist.loss_fn, bmnist_net=net)
    video, _ = sequences(rng, digits, SEQUENCES)
    training = beside.Coix(net, loss, video, video[0], SWEEPS, PARTICLES, RATE)
    training.parameters = net.init(jax.random.PRNGKey(arguments.seed), jnp.asarray(video[0]))
    training.state = optax.adam(RATE).init(training.parameters)

    def run_of(sweeps):
        @jax.jit
        def run(parameters, video, key):
            program = bmnist.make_bmnist(parameters, net, FRAMES, sweeps, PARTICLES)
            out, _, metrics = coix.traced_evaluate(program, seed=key)(video)
            return out[0], {name: metrics[name] for name in ("log_weight", "log_density")}

        return run

    runs = [("one_shot", run_of(0)), ("end", run_of(SWEEPS))]
    with open(arguments.out, "w", newline="") as file:
        table, start = None, time.process_time()
        for step in range(arguments.steps + 1):
            if step % arguments.check_every == 0:
                row = {"step": step, "seconds": round(time.process_time() - start, 1)}
                for when, run in runs:
                    key = jax.random.fold_in(jax.random.PRNGKey(arguments.seed), step)
                    found = [measured(run, training.parameters, *batch, key) for batch in test]
                    row.update({f"{what}_{when}": np.mean([own[what] for own in found]) for what in found[0]})
                if table is None:
                    table = csv.DictWriter(file, row)
                    table.writeheader()
                table.writerow(row)
                file.flush()
                print(row, flush=True)
            if step == arguments.steps:
                break
            training.batch = jnp.asarray(sequences(rng, digits, SEQUENCES)[0])
            training.seconds(1)


if __name__ == "__main__":
    main()

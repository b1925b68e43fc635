"""Opens InferenceData with ArviZ as a user would, and holds it against the numbers that were written."""

import sys

import arviz
import numpy as np
import xarray
import zarr

path, expected = sys.argv[1], np.array(sys.argv[2:], dtype=float).reshape(-1, 2)
if hasattr(arviz, "InferenceData") and zarr.__version__ >= "3":
    data = arviz.InferenceData.from_datatree(xarray.open_datatree(path, engine="zarr"))
else:
    data = arviz.from_zarr(path)

posterior, stats, diagnostics = data["posterior"], data["sample_stats"], data["diagnostics"]
assert posterior["mu"].dims == ("chain", "draw"), posterior["mu"].dims
assert posterior["mu"].shape == (4, 501)
assert posterior["theta"].dims == ("chain", "draw", "theta_dim_0", "theta_dim_1")
assert posterior["theta"].shape == (4, 501, 1, 2)
assert list(posterior["chain"].values) == [0, 1, 2, 3]
assert stats["diverging"].dtype == bool and stats["n_moves"].dtype == np.int64
assert (stats["n_moves"] == 1).all() and np.isnan(stats["importance_ess"]).all()

found = []
for values in [posterior["mu"], posterior["theta"], stats["acceptance_rate"], stats["diverging"]]:
    flat = np.asarray(values.values, dtype=float).ravel()
    found.append([flat.sum(), (np.arange(1, flat.size + 1) * flat).sum()])
assert np.allclose(found, expected, rtol=1e-12, atol=1e-9), (found, expected)

# ArviZ's own diagnostics of the draws that it read, unrounded.
names = [str(name) for name in diagnostics["statistic"].values]
assert names == ["mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"], names
mu = posterior["mu"].values
own = [
    mu.mean(),
    mu.std(ddof=1),
    float(arviz.mcse(mu, method="mean")),
    float(arviz.ess(mu, method="bulk")),
    float(arviz.ess(mu, method="tail")),
    float(arviz.rhat(mu)),
]
ours = diagnostics["mu"].values
assert np.allclose(own, ours, rtol=1e-9), (own, ours)
assert diagnostics["theta"].dims == ("statistic", "theta_dim_0", "theta_dim_1")
assert np.isfinite(diagnostics["theta"].values[:, 0, 0]).all()
assert np.isnan(diagnostics["theta"].values[:, 0, 1]).all(), "a constant has no diagnostics"
print(f"arviz {arviz.__version__}, zarr {zarr.__version__}, xarray {xarray.__version__}: opened")

"""Reads parameters as numpy has them, and as PyTorch has them where it is installed."""

import json
import sys

from safetensors.numpy import load_file

path, dtype, expected = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def key(shape, values):
    return list(shape), list(values)


wanted = sorted(key(p["shape"], p["values"]) for p in expected)
arrays = load_file(path)
assert all(str(array.dtype) == dtype for array in arrays.values())
found = sorted(key(a.shape, a.astype("float64").ravel().tolist()) for a in arrays.values())
assert found == wanted, (found, wanted)

try:
    import torch
except ImportError:
    print(f"{dtype}: read by numpy, without torch:", ", ".join(sorted(arrays)))
else:
    from safetensors.torch import load_file as load_torch

    tensors = load_torch(path)
    assert all(t.dtype == getattr(torch, dtype) for t in tensors.values())
    found = sorted(key(t.shape, t.double().flatten().tolist()) for t in tensors.values())
    assert found == wanted, (found, wanted)
    print(f"{dtype}: read by numpy and torch {torch.__version__}:", ", ".join(sorted(arrays)))

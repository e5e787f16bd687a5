"""Writes calibration data: make_data.py FILE.npz KIND, for an input `data` of shape (1, 3, 8, 8)."""

import sys

import numpy as np

path, kind = sys.argv[1:]
rng = np.random.default_rng(0)
batch = rng.standard_normal((1, 3, 8, 8)).astype(np.float32)
if kind == "batch":
    np.savez(path, data=batch, labels=np.arange(3))
elif kind == "batches":
    np.savez(path, data=rng.standard_normal((5, 1, 3, 8, 8)))
elif kind == "other":
    np.savez(path, date=batch)
elif kind == "nan":
    np.savez(path, data=np.full_like(batch, np.nan))
elif kind == "array":
    with open(path, "wb") as file:
        np.save(file, batch)
elif kind == "text":
    with open(path, "w") as file:
        file.write("no archive")

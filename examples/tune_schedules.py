"""Measures schedules of the kernels of a model, and compiles the model with the fastest."""

import tempfile
from pathlib import Path

import numpy as np

import xrelay
from xrelay import relay

x = relay.var("x", shape=(16, 64))
weight = np.random.default_rng(0).normal(size=(32, 64)).astype(np.float32)
module = relay.IRModule.from_expr(relay.Function([x], relay.nn.relu(relay.nn.dense(x, weight))))

with tempfile.TemporaryDirectory() as folder:
    records = Path(folder) / "records.jsonl"
    summary = xrelay.tune(module, records, threads=1, candidates=2)
    for kernel in summary.kernels:
        for measured in kernel.record.measured:
            print(f"{measured.candidate}: {measured.nanoseconds / 1000:.1f} us")
    model = xrelay.compile(module, threads=1, records=records)
data = np.ones((16, 64), np.float32)
np.testing.assert_allclose(model.run([data])[0], np.maximum(data @ weight.T, 0), atol=1e-4)

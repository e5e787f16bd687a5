"""The effect of each graph pass: ResNet-50 compiled with and without it, on one thread.

    python benchmarks/bench_pipeline.py [--model NAME] [--rounds N]

Each row is a way to compile; the rows take turns, so that disturbances affect all. `slower` is the fastest round as a
multiple of that of the whole pipeline. Every output is compared with the interpreter's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import xrelay
from xrelay.frontend.onnx.light_models import light_model
from xrelay.passes.infra.pass_context import PassContext


@dataclass(frozen=True)
class Way:
    """A compile configuration."""

    name: str
    opt_level: int = 3
    disabled: tuple[str, ...] = ()


WAYS = (
    Way("level 3, the whole pipeline"),
    Way("  without relay-alter-op-layout", disabled=("relay-alter-op-layout",)),
    Way("  without relay-fold-scale-axis", disabled=("relay-fold-scale-axis",)),
    Way("  without relay-fold-constant", disabled=("relay-fold-constant",)),
    Way("  without relay-fuse-ops", disabled=("relay-fuse-ops",)),
    Way("level 2", opt_level=2),
    Way("level 1", opt_level=1),
    Way("level 0", opt_level=0),
)


@dataclass
class Row:
    """A compiled model and the times of its rounds."""

    way: Way
    model: xrelay.CompiledModel
    seconds: list[float] = field(default_factory=list[float])

    def round(self, inputs: dict[str, np.ndarray]) -> None:
        """Runs the model once."""
        start = time.perf_counter()
        self.model.run(inputs)
        self.seconds.append(time.perf_counter() - start)


def compiled(path: Path, way: Way) -> Row:
    """Compiles `path` in this way, without a cached model."""
    with PassContext(opt_level=way.opt_level, disabled_pass=way.disabled):
        return Row(way, xrelay.compile(path, threads=1))


def main() -> int:
    """Prints the table; the exit code is 1 if an output differs from the interpreter's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50", help="a light model (resnet50)")
    parser.add_argument("--rounds", type=int, default=6, help="rounds of each row (6)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XRELAY_CACHE_DIR"] = str(Path(folder) / "cache")
        path = Path(folder) / f"{args.model}.onnx"
        path.write_bytes(light_model(args.model).SerializeToString())
        rows = [compiled(path, way) for way in WAYS]
        (spec,) = rows[0].model.inputs
        inputs = {spec.name: np.random.default_rng(0).standard_normal(spec.known_shape).astype(spec.numpy_dtype)}
        same = [bool(xrelay.same(path, row.model, inputs=inputs)) for row in rows]
    for _ in range(args.rounds):
        for row in rows:
            row.round(inputs)
    best = min(rows[0].seconds)
    sys.stdout.write(f"{args.model:34} {'kernels':>7} {'min ms':>8} {'slower':>7}  as interpreted\n")
    for row, equal in zip(rows, same, strict=True):
        fastest = min(row.seconds)
        kernels = len(row.model.artifact.metadata.kernels)
        sys.stdout.write(
            f"{row.way.name:34} {kernels:7} {1e3 * fastest:8.1f} {fastest / best:7.2f}  {'yes' if equal else 'NO'}\n"
        )
    return int(not all(same))


if __name__ == "__main__":
    sys.exit(main())

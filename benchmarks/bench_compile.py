"""Costs of compiling, compared with sessions of onnxruntime and OpenVINO.

Every measurement runs in its own process, and the engines take turns; the table shows the fastest round. Seconds are
counted after `import numpy`, so they include the engine's own import:

- first: the first model of a process, with an empty cache;
- cold: the same, with the compiler already imported;
- kernels: the same network with other weights, so that its kernels are cached and the model is not;
- known: the same file again;
- MB: growth of the peak memory from the imported engine, its libraries loaded, to the model, summed over processes;
- files: the part of it that is code and data of the engine's libraries, which processes share and the system may drop;
- helpers: the part of it that is the peak memory of worker processes, with all their imports.

Python caches bytecode regardless of the environment, as pip does for an installed package.

The peers create a session anew each time, so the columns kernels, known and helpers do not apply to them. `--growth`
compiles chains of the given numbers of different kernels.

    python benchmarks/bench_compile.py [--models resnet50 …] [--rounds N] [--growth 10 100 …]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import onnx
from networks import chain, mobilenetv2, resnet18
from onnx import numpy_helper

ENGINES = ("xrelay", "onnxruntime", "openvino")
PEERS = ENGINES[1:]
MODELS = ("squeezenet", "mobilenetv2", "resnet50")
OWN = {"mobilenetv2": mobilenetv2, "resnet18": lambda: resnet18(224)}
COLUMNS = ("first", "cold", "kernels", "known", "MB", "files", "helpers")

Figures = dict[str, float]


def network(name: str) -> onnx.ModelProto:
    """Returns a network of the benchmarks, or one of onnx's light models."""
    if name in OWN:
        return OWN[name]()
    from xrelay.frontend.onnx.light_models import light_model

    return light_model(name)


def with_other_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the network with one element of its largest weight changed; small weights may be part of kernels."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    floats = [each for each in other.graph.initializer if each.data_type == onnx.TensorProto.FLOAT]
    weight = max(floats, key=lambda each: numpy_helper.to_array(each).size)
    array = numpy_helper.to_array(weight).copy()
    array.flat[0] += 1
    weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    return other


def measured(engine: str, path: Path, cache: Path, *, warm: bool = False) -> Figures:
    """Returns seconds and peak megabytes of one model in a new process."""
    script = Path(__file__).with_name("open_model.py")
    command = [sys.executable, str(script), engine, str(path), *(["--warm"] if warm else [])]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["XRELAY_CACHE_DIR"] = str(cache)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{engine} {path.name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def our_round(path: Path, other: Path) -> Figures:
    """Measures one round of xrelay, starting with empty caches."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        cold = measured("xrelay", path, Path(first), warm=True)
        known = measured("xrelay", path, Path(first))
        kernels = measured("xrelay", other, Path(first), warm=True)
        return {
            "first": measured("xrelay", path, Path(second))["seconds"],
            "cold": cold["seconds"],
            "kernels": kernels["seconds"],
            "known": known["seconds"],
            "MB": cold["megabytes"],
            "files": cold["files"],
            "helpers": cold["helpers"],
        }


def peer_round(engine: str, path: Path) -> Figures:
    """Measures one round of a peer."""
    with tempfile.TemporaryDirectory() as cache:
        cold = measured(engine, path, Path(cache), warm=True)
        return {
            "first": measured(engine, path, Path(cache))["seconds"],
            "cold": cold["seconds"],
            "MB": cold["megabytes"],
            "files": cold["files"],
        }


def bench(name: str, path: Path, other: Path, rounds: int) -> None:
    """Prints the rows of a model, whose engines take turns."""
    engines = [engine for engine in ENGINES if engine not in PEERS or find_spec(engine) is not None]
    found: dict[str, list[Figures]] = {engine: [] for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            found[engine].append(our_round(path, other) if engine == "xrelay" else peer_round(engine, path))
    for engine, rows in found.items():
        least = {column: min(row[column] for row in rows) for column in rows[0]}
        cells = (f"{least[column]:9.2f}" if column in least else f"{'—':>9}" for column in COLUMNS)
        print(f"{name:12} {engine:12} {' '.join(cells)}", flush=True)


def bench_growth(counts: list[int], folder: Path) -> None:
    """Prints a table of seconds and megabytes by number of different kernels."""
    print(f"\n{'kernels':>8} {'cold s':>9} {'ms each':>9} {'MB':>9}", flush=True)
    for count in counts:
        path = folder / f"chain{count}.onnx"
        path.write_bytes(chain(count).SerializeToString())
        with tempfile.TemporaryDirectory() as cache:
            row = measured("xrelay", path, Path(cache), warm=True)
        seconds = row["seconds"]
        print(f"{count:8} {seconds:9.2f} {1e3 * seconds / count:9.1f} {row['megabytes']:9.1f}", flush=True)


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=list(MODELS), help=f"networks ({' '.join(MODELS)})")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each engine (3)")
    parser.add_argument("--growth", nargs="*", type=int, default=[], help="numbers of different kernels")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if args.models:
            print(f"{'model':12} {'engine':12} {' '.join(f'{column:>9}' for column in COLUMNS)}", flush=True)
        for name in args.models:
            model = network(name)
            path, other = folder / f"{name}.onnx", folder / f"{name}_other.onnx"
            path.write_bytes(model.SerializeToString())
            other.write_bytes(with_other_weights(model).SerializeToString())
            bench(name, path, other, args.rounds)
        if args.growth:
            bench_growth(args.growth, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

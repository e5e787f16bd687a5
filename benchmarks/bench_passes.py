"""Graph passes on graphs of 10,000 and 100,000 ops and on resnet50: CPU seconds, and growth with ten times the ops.

    python benchmarks/bench_passes.py [--ops N] [--graphs a,b] [--passes a,b] [--text]

The default pipeline at opt_level 3 is timed pass by pass, each on the output of the previous one. `--text` adds
printing, parsing and verifying. Resnet50 is that of the frontend's light models with random weights. The exit code is 1
if a pass takes more than 10 s at the larger size or grows by more than a factor of 12, or if resnet50's pipeline takes
more than 1.5 s. Growth is checked only for passes that take at least a second; shorter times are too noisy. Printing,
parsing and verifying are not checked.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from time import process_time

from pass_graphs import GRAPHS
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, chosen_passes
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module

SLOW, GROWTH, NETWORK = 10.0, 12.0, 1.5
"""The limits: seconds of a pass, growth with ten times the graph, and seconds of resnet50's pipeline."""
TELLING = 1.0
"""The seconds from which growth is checked."""

PRINT, PARSE, VERIFY, TOGETHER = "print", "parse", "verify", "these passes together"

Row = tuple[str, float]


def pipeline() -> list[str]:
    """Returns the default pipeline at opt_level 3, from type inference to outlined kernels."""
    return [
        "relay-infer-type",
        *chosen_passes(DEFAULT_PIPELINE, 3),
        "relay-fuse-ops{fuse-opt-level=3}",
        "relay-outline-fused",
    ]


def seconds(action: Callable[[], object]) -> float:
    """Returns the CPU time of `action`."""
    start = process_time()
    action()
    return process_time() - start


def timed(names: list[str], module: ModuleOp) -> list[Row]:
    """Returns the time of each pass on `module`, which they modify in turn; the last may refuse control flow."""
    context, rows = full_context(), list[Row]()
    for current in parse_passes(",".join(names), {name: lambda name=name: load_pass(name) for name in ALL_PASSES}):
        start = process_time()
        try:
            run_pipeline(module, [current], context=context)
        except PassError as error:
            sys.stdout.write(f"  {error.message}\n")
            break
        rows.append((current.name, process_time() - start))
    return rows


def text_rows(module: ModuleOp) -> list[Row]:
    """Returns the times of printing, parsing and verifying `module`."""
    texts: list[str] = []
    return [
        (PRINT, seconds(lambda: texts.append(print_module(module)))),
        (PARSE, seconds(lambda: parse_module(full_context(), texts[0], "graph.mlir"))),
        (VERIFY, seconds(lambda: verify_module(module))),
    ]


def measure(module: ModuleOp, passes: list[str], *, text: bool) -> list[Row]:
    """Returns all rows of one graph, of `passes` or the default pipeline."""
    rows = text_rows(module) if text else []
    chosen = timed(passes if passes else pipeline(), module)
    return [*rows, *chosen, (TOGETHER, sum(time for _, time in chosen))]


def compare(small: list[Row], large: list[Row]) -> bool:
    """Prints both sizes side by side; returns whether every pass meets its limits."""
    fine = True
    for (name, before), (_, after) in zip(small, large, strict=True):
        factor = after / max(before, 1e-3)
        slow = after > SLOW and name != TOGETHER
        bad = name not in (PRINT, PARSE, VERIFY) and (slow or (factor > GROWTH and after > TELLING))
        fine = fine and not bad
        sys.stdout.write(f"  {name:38} {before:8.3f} s {after:8.3f} s  x {factor:5.1f}{'  !' if bad else ''}\n")
    sys.stdout.flush()
    return fine


def resnet50(passes: list[str]) -> bool:
    """Prints the time of each pass on resnet50; returns whether the pipeline meets its limit."""
    from xrelay.frontend.onnx import import_onnx
    from xrelay.frontend.onnx.light_models import light_model

    model = light_model("resnet50")
    timed(pipeline(), import_onnx(model))  # Imports happen once per process and are not a cost of the graph.
    rows = measure(import_onnx(model), passes, text=True)
    sys.stdout.write("resnet50\n")
    for name, time in rows:
        sys.stdout.write(f"  {name:38} {time:8.3f} s\n")
    total = dict(rows)[TOGETHER]
    sys.stdout.write(f"  the pipeline takes {total:.2f} s, it may take {NETWORK} s\n")
    return total <= NETWORK


def main() -> int:
    """Prints the tables; the exit code is 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=100_000, help="how large the larger graph is (100000)")
    parser.add_argument("--graphs", default="", help="which graphs, separated by commas")
    parser.add_argument("--passes", default="", help="which passes instead, separated by commas")
    parser.add_argument("--text", action="store_true", help="print, parse and verify too: minutes")
    args = parser.parse_args()
    passes: list[str] = args.passes.split(",") if args.passes else []
    fine = True
    for graph in args.graphs.split(",") if args.graphs else ("resnet50", *GRAPHS):
        if graph == "resnet50":
            fine = resnet50(passes) and fine
            continue
        sys.stdout.write(f"{graph}, {args.ops // 10} and {args.ops} ops\n")
        found: list[list[Row]] = []
        for ops in (args.ops // 10, args.ops):
            found.append(measure(GRAPHS[graph](ops), passes, text=args.text))
            gc.collect()
        fine = compare(*found) and fine
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())

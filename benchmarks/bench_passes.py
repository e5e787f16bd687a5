"""Graph passes on graphs of 10,000 and 100,000 ops and on resnet50: CPU seconds, and what ten times the graph costs.

    python benchmarks/bench_passes.py [--all] [--ops N] [--graphs a,b] [--passes a,b] [--text]

For a chain, diamonds, 10,000 branches and resnet50: the whole default pipeline at opt_level 3 pass by pass, each on
what the one before left. With `--all`, which takes half an hour: every graph of `pass_graphs.py`, and the other passes
of relay. With `--text` the text of a graph printed, parsed and verified too. Resnet50 is that of the frontend's light
models with random weights. The exit code is 1 where a pass takes more than 10 s at the
larger size, grows more than 12 times, or resnet50's pipeline takes more than 1.5 s. Growth is judged where it can be
told from noise: of passes that take a second. Printing, parsing and verifying are shown only.
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
from xrelay.passes.catalogue.default_pipeline import default_passes
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module

OTHERS = (
    "relay-check-types",
    "relay-check-basic-block-normal-form",
    "relay-to-a-normal-form",
    "relay-to-graph-normal-form",
    'relay-convert-layout{desired-layouts="nn.conv2d:NHWC:HWIO"}',
    "relay-remove-unused-functions",
    "test-print-post-dominators",
    "relay-fuse-ops",
    "relay-defuse-ops",
)
"""Passes that the default pipeline lacks, in an order in which each has something to do."""
USUAL = ("resnet50", "chain", "ladder", "wide")
"""The graphs without `--all`."""
SLOW, GROWTH, NETWORK = 10.0, 12.0, 1.5
"""Seconds that a pass may take, how many times more for ten times the graph, and seconds for resnet50's pipeline."""
TELLING = 1.0
"""Seconds from which on growth is judged."""

PRINT, PARSE, VERIFY, TOGETHER = "print", "parse", "verify", "these passes together"

Row = tuple[str, float]


def pipeline() -> list[str]:
    """The default pipeline at opt_level 3, from types to outlined kernels."""
    return ["relay-infer-type", *default_passes(3), "relay-fuse-ops{fuse-opt-level=3}", "relay-outline-fused"]


def seconds(action: Callable[[], object]) -> float:
    """CPU time that `action` takes."""
    start = process_time()
    action()
    return process_time() - start


def timed(names: list[str], module: ModuleOp) -> list[Row]:
    """What each pass takes on `module`, which they change in turn; the last may refuse control flow."""
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
    """What it takes to print, parse and verify `module`."""
    texts: list[str] = []
    return [
        (PRINT, seconds(lambda: texts.append(print_module(module)))),
        (PARSE, seconds(lambda: parse_module(full_context(), texts[0], "graph.mlir"))),
        (VERIFY, seconds(lambda: verify_module(module))),
    ]


def measure(make: Callable[[], ModuleOp], passes: list[str], *, text: bool, others: bool) -> list[Row]:
    """All rows of one graph; without `passes` the default ones, and the other ones where that is wanted."""
    module = make()
    rows = text_rows(module) if text else []
    chosen = timed(passes if passes else pipeline(), module)
    rows += [*chosen, (TOGETHER, sum(time for _, time in chosen))]
    if others:
        del module
        rows += timed(["relay-infer-type", *OTHERS], make())[1:]
    return rows


def compare(small: list[Row], large: list[Row]) -> bool:
    """Print both sizes side by side; whether every pass keeps to its limits."""
    fine = True
    for (name, before), (_, after) in zip(small, large, strict=True):
        factor = after / max(before, 1e-3)
        slow = after > SLOW and name != TOGETHER
        bad = name not in (PRINT, PARSE, VERIFY) and (slow or (factor > GROWTH and after > TELLING))
        fine = fine and not bad
        sys.stdout.write(f"  {name:38} {before:8.3f} s {after:8.3f} s  x {factor:5.1f}{'  !' if bad else ''}\n")
    sys.stdout.flush()
    return fine


def resnet50(passes: list[str], *, others: bool) -> bool:
    """Print what each pass takes on resnet50; whether they keep to their limit together."""
    from xrelay.frontend.onnx import import_onnx
    from xrelay.frontend.onnx.light_models import light_model

    model = light_model("resnet50")
    timed(pipeline(), import_onnx(model))  # What a process imports once is no cost of a graph.
    rows = measure(lambda: import_onnx(model), passes, text=True, others=others)
    sys.stdout.write("resnet50\n")
    for name, time in rows:
        sys.stdout.write(f"  {name:38} {time:8.3f} s\n")
    total = dict(rows)[TOGETHER]
    sys.stdout.write(f"  the pipeline takes {total:.2f} s, it may take {NETWORK} s\n")
    return total <= NETWORK


def main() -> int:
    """Print the tables; the exit code is 1 where something took longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=100_000, help="how large the larger graph is (100000)")
    parser.add_argument("--graphs", default="", help="which graphs, separated by commas")
    parser.add_argument("--all", action="store_true", help="every graph and every pass: half an hour")
    parser.add_argument("--passes", default="", help="which passes instead, separated by commas")
    parser.add_argument("--text", action="store_true", help="print, parse and verify too: minutes")
    args = parser.parse_args()
    passes: list[str] = args.passes.split(",") if args.passes else []
    usual = ("resnet50", *GRAPHS) if args.all else USUAL
    others, fine = args.all and not passes, True
    for graph in args.graphs.split(",") if args.graphs else usual:
        if graph == "resnet50":
            fine = resnet50(passes, others=others) and fine
            continue
        sys.stdout.write(f"{graph}, {args.ops // 10} and {args.ops} ops\n")
        found: list[list[Row]] = []
        for ops in (args.ops // 10, args.ops):
            found.append(measure(lambda make=GRAPHS[graph], ops=ops: make(ops), passes, text=args.text, others=others))
            gc.collect()
        fine = compare(*found) and fine
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())

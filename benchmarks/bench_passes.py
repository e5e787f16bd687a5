"""Graph passes on graphs of 10,000 and 100,000 ops: seconds of CPU time, and how ten times the graph costs.

    python benchmarks/bench_passes.py [--ops N] [--passes a,b]

Three shapes: a chain, a ladder of diamonds, and 10,000 branches of one value that a tuple joins. Every pass runs on the
module that the passes before it left, in the order of the compiler.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import process_time

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.nn_activation import ReluOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.tensor_elementwise import AddOp, ExpOp, SigmoidOp
from xrelay.dialects.relay.tensor_join import ConcatenateOp
from xrelay.dialects.relay.tuples import TupleOp
from xrelay.dialects.relay.types import tensor_type
from xrelay.lowering.registry import load_pass
from xrelay.passes.infra.source import full_context

PASSES = (
    "relay-infer-type",
    "relay-simplify-inference",
    "relay-fold-constant",
    "relay-eliminate-common-subexpr",
    "relay-fold-scale-axis",
    "relay-canonicalize-ops",
    "relay-alter-op-layout",
    "relay-dead-code-elimination",
    "relay-to-basic-block-normal-form",
    "relay-check-basic-block-normal-form",
    "relay-to-a-normal-form",
    "relay-to-graph-normal-form",
    "relay-inline",
    "relay-fuse-ops",
    "relay-outline-fused",
)
SLOW = 10.0
"""Seconds that no pass may take on 100,000 ops."""


def chain(ops: int) -> ModuleOp:
    """Unary ops, one behind the other."""
    kinds = (ReluOp, ExpOp, SigmoidOp)

    def body(block: Block, value: SSAValue) -> SSAValue:
        for number in range(ops):
            value = _added(block, kinds[number % len(kinds)].call(value))
        return value

    return _module(body)


def ladder(ops: int) -> ModuleOp:
    """Diamonds: two ops on one value, joined by a sum."""

    def body(block: Block, value: SSAValue) -> SSAValue:
        for _ in range(ops // 3):
            left, right = _added(block, ExpOp.call(value)), _added(block, SigmoidOp.call(value))
            value = _added(block, AddOp.call(left, right))
        return value

    return _module(body)


def wide(ops: int) -> ModuleOp:
    """Branches from one value, a tenth as many as ops, each of ten ops, joined by one concatenation."""

    def body(block: Block, value: SSAValue) -> SSAValue:
        ends: list[SSAValue] = []
        for number in range(ops // 10):
            # Branches differ, or common subexpressions would leave one.
            offset = _added(block, ConstantOp.of(np.array(number, np.float32)))
            end = _added(block, AddOp.call(value, offset))
            for _ in range(4):
                end = _added(block, SigmoidOp.call(_added(block, ExpOp.call(end))))
            ends.append(end)
        joined = _added(block, TupleOp.call(*ends))
        return _added(block, ConcatenateOp.call(joined, axis=0))

    return _module(body)


SHAPES: dict[str, Callable[[int], ModuleOp]] = {"chain": chain, "ladder": ladder, "wide": wide}


def _added(block: Block, op: RelayOp | ConstantOp) -> SSAValue:
    block.add_op(op)
    return op.results[0]


def _module(body: Callable[[Block, SSAValue], SSAValue]) -> ModuleOp:
    block = Block(arg_types=[tensor_type([8], f32)])
    result = body(block, block.args[0])
    block.add_op(ReturnOp(result))
    return ModuleOp([FuncOp("main", ([block.args[0].type], [result.type]), Region(block))])


def timed(name: str, module: ModuleOp) -> float:
    """Seconds of CPU time that the pass takes on `module`, which it changes."""
    found = load_pass(name)()
    context = full_context()
    start = process_time()
    found.apply(context, module)
    return process_time() - start


def main() -> int:
    """Print the table; the exit code is 1 where a pass took longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=100_000, help="how large the larger graph is (100000)")
    parser.add_argument("--passes", default=",".join(PASSES), help="which passes, separated by commas")
    args = parser.parse_args()
    names: list[str] = args.passes.split(",")
    worst = 0.0
    for shape, make in SHAPES.items():
        small, large = make(args.ops // 10), make(args.ops)
        sys.stdout.write(f"{shape}, {args.ops // 10} and {args.ops} ops\n")
        for name in names:
            before, after = timed(name, small), timed(name, large)
            worst = max(worst, after)
            sys.stdout.write(f"  {name:38} {before:8.3f} s {after:8.3f} s  x {after / max(before, 1e-3):5.1f}\n")
            sys.stdout.flush()
    return int(worst > SLOW)


if __name__ == "__main__":
    sys.exit(main())

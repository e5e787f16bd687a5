"""A third-party package of faulty passes, which xDSL and so `xrelay-opt` find by its entry point."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.universe import Universe

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp


@dataclass(frozen=True)
class BrokenRaise(ModulePass):
    """Raises an exception that is not an XRelayError."""

    name = "broken-raise"

    depth: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("no such\nthing")


@dataclass(frozen=True)
class BrokenTypes(ModulePass):
    """Sets an invalid result type."""

    name = "broken-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in [inner for inner in op.walk() if isinstance(inner, MultiplyOp)]:
            Rewriter.replace_value_with_new_type(inner.results[0], TensorType(f32, [7]))


@dataclass(frozen=True)
class BrokenDominance(ModulePass):
    """Moves ops after their uses."""

    name = "broken-dominance"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in [inner for inner in op.walk() if isinstance(inner, MultiplyOp)]:
            inner.detach()
            block = next(iter(inner.results[0].uses)).operation.parent_block()
            Rewriter.insert_op(inner, InsertPoint.before(block.last_op))


@dataclass(frozen=True)
class BrokenValues(ModulePass):
    """Changes the results of the program."""

    name = "broken-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in [inner for inner in op.walk() if isinstance(inner, MultiplyOp)]:
            Rewriter.replace_op(inner, AddOp.call(*inner.operands))


@dataclass(frozen=True)
class BrokenRecursion(ModulePass):
    """Recurses without end."""

    name = "broken-recursion"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.apply(ctx, op)


@dataclass(frozen=True)
class BrokenInterrupt(ModulePass):
    """Raises KeyboardInterrupt, as Ctrl-C does."""

    name = "broken-interrupt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyboardInterrupt


def _missing() -> type[ModulePass]:
    import a_package_that_is_not_here  # pyright: ignore

    return a_package_that_is_not_here.Pass


_PASSES = (BrokenRaise, BrokenTypes, BrokenDominance, BrokenValues, BrokenRecursion, BrokenInterrupt)
UNIVERSE = Universe(
    all_passes={
        **{found.name: (lambda found=found: found) for found in _PASSES},
        "broken-import": _missing,
    }
)

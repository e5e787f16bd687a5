"""Hooks for functions in Relay's form, which take expressions, attributes and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter
from xrelay.relay.attrs import Attrs
from xrelay.relay.expr import Expr, Var, view
from xrelay.relay.nodes import Call, op_of
from xrelay.relay.passes.precision_hooks import Precision
from xrelay.relay.replacing import insert_after, insert_before
from xrelay.relay.type_views import type_view


def target_hook(function: Callable[..., object]) -> Callable[[RelayOp], object]:
    """Returns a hook for `target.NAME`. The function takes the call."""

    def hook(op: RelayOp) -> object:
        return function(view(op.results[0]))

    return _named(hook, function)


def legalize_hook(function: Callable[..., object]) -> Callable[[RelayOp, Emitter], SSAValue | None]:
    """Converts a function for `register_legalize` in Relay's form to a hook of `transform.legalize_scope`."""

    def hook(op: RelayOp, emit: Emitter) -> SSAValue | None:
        types = [type_view(each) for each in (*op.operand_types, *op.result_types)]
        answer = function(Attrs(op), [view(operand) for operand in op.operands], types)
        if answer is not None and not isinstance(answer, Expr):
            raise PassError(f"it returned {answer!r}, not an expression")
        return None if answer is None else insert_after(op, answer.ssa_value)

    return _named(hook, function)


def precision_hook(function: Callable[..., object]) -> Callable[[RelayOp, Attribute], Precision]:
    """Converts a function in Relay's form to a hook of `relay-to-mixed-precision`."""

    def hook(op: RelayOp, mixed: Attribute) -> Precision:
        answer = function(view(op.results[0]), str(numpy_dtype(mixed)))
        fields = list(answer) if isinstance(answer, Sequence) else []
        if len(fields) != 3 or fields[0] not in tuple(MixedPrecision):
            raise PassError(f"returned {answer!r}, not a list of a category, 0 to 2, and two dtypes")
        category, accumulation, output = fields
        return Precision(
            MixedPrecision(cast(int, category)), element_type(str(accumulation)), element_type(str(output))
        )

    return _named(hook, function)


def layout_hook(
    function: Callable[..., object],
) -> Callable[[RelayOp, Sequence[Layout | None], int], LayoutDecision | LayoutRefusal | None]:
    """Converts a function in Relay's form to a hook of `relay-alter-op-layout`."""

    def hook(op: RelayOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal | None:
        inputs: list[Expr] = [Var(f"operand{number}") for number in range(len(op.operands))]
        types = [type_view(operand.type) for operand in op.operands]
        answer = function(Attrs(op), inputs, types, type_view(op.results[0].type))
        return None if answer is None else _decision(op, answer, inputs)

    return _named(hook, function)


def _decision(op: RelayOp, answer: object, inputs: Sequence[Expr]) -> LayoutDecision | LayoutRefusal:
    """Returns the layouts in the attributes of the call `answer`, whose arguments become the operands of `op`."""
    made = op_of(answer) if isinstance(answer, Call) else None
    if not isinstance(answer, Call) or not isinstance(made, RelayOp) or len(answer.args) != len(inputs):
        raise PassError(f"it returned {answer!r}, not a call of an operator on as many operands")
    layouts = getattr(made, "layouts", None)
    if not isinstance(layouts, tuple):
        raise PassError(f"the attributes of {made.relay_name()} contain no layouts: use transform.alters_layout")
    named, owns = cast("tuple[Layout, ...]", layouts), cast("tuple[Layout, ...]", getattr(op, "layouts", ()))
    *operands, result = [LayoutPermutation.of(wanted, own) for own, wanted in zip(owns, named, strict=True)]
    fits = getattr(op, "with_layouts", None)
    refusal = fits(*operands, result) if callable(fits) and type(made) is type(op) else None
    if isinstance(refusal, LayoutRefusal):
        return refusal
    _compute_operands(op, answer.args, inputs)
    kind = None if type(made) is type(op) else type(made)
    return LayoutDecision(tuple(operands), result, dict(made.properties), kind)


def _compute_operands(op: RelayOp, arguments: Sequence[Expr], inputs: Sequence[Expr]) -> None:
    """Inserts the ops of `arguments` before `op` as its operands; `inputs` are replaced by the old operands."""
    known = dict(zip([each.ssa_value for each in inputs], op.operands, strict=True))
    op.operands = [insert_before(op, argument.ssa_value, known) for argument in arguments]


HookT = TypeVar("HookT", bound=Callable[..., object])


def _named(hook: HookT, function: Callable[..., object]) -> HookT:
    """Returns `hook` with the name of the function that it calls, for error messages."""
    hook.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return hook

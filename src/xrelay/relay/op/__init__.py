"""`relay.op`: operators by name, and what is registered for them from outside.

@relay.op.register_alter_op_layout("nn.conv2d", level=101)
def alter_conv2d(attrs, inputs, tinfos, out_type):
new_attrs = dict(attrs)
new_attrs["data_layout"] = "NCHW16c"
return relay.nn.conv2d(*inputs, **new_attrs)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.core.dtypes import element_type, numpy_dtype
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.layout import cpu_layout_hooks as cpu_layout_hooks  # registered first, so that others replace them
from xrelay.passes.layout.layout_hooks import alters_layout
from xrelay.passes.relay.legalize_hooks import LEGALIZE, legalizes
from xrelay.passes.relay.precision_hooks import Precision, sets_precision
from xrelay.registrations import note_registration
from xrelay.relay import operators
from xrelay.relay.attrs import Attrs, Op
from xrelay.relay.calls import OpFunction
from xrelay.relay.expr import Expr, Var, view
from xrelay.relay.nodes import Call, op_of
from xrelay.relay.op import contrib
from xrelay.relay.op_attributes import register_op_attr
from xrelay.relay.op_implementations import (
    OpImplementation,
    OpStrategy,
    register_broadcast_schedule,
    register_compute,
    register_injective_schedule,
    register_schedule,
    register_strategy,
    wrap_topi_compute,
    wrap_topi_schedule,
)
from xrelay.relay.operators import annotation, image, nn
from xrelay.relay.replacing import insert_behind

__all__ = [
    "OpImplementation",
    "OpStrategy",
    "annotation",
    "contrib",
    "get",
    "image",
    "nn",
    "register_alter_op_layout",
    "register_broadcast_schedule",
    "register_compute",
    "register_injective_schedule",
    "register_legalize",
    "register_mixed_precision_conversion",
    "register_op_attr",
    "register_schedule",
    "register_strategy",
    "wrap_topi_compute",
    "wrap_topi_schedule",
]

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

_LEVELS: dict[type[RelayOp], int] = {}
_LEGALIZE_LEVELS: dict[tuple[str, type[RelayOp]], int] = {}
_PRECISION_LEVELS: dict[type[RelayOp], int] = {}


def __getattr__(name: str) -> OpFunction:
    """The operator called so, as a function: `relay.op.concatenate` is `relay.concatenate`."""
    return getattr(operators, name)


def get(name: str) -> Op:
    """The operator called `name`; `UnknownOpError` for none."""
    return Op.of(get_relay_op(name))


def register_alter_op_layout(
    op_name: str, alter_layout: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says in which layouts `op_name` works on the CPU.

    The function gets the attributes, a variable for each operand, the operands' types and the result's. It returns a
    call of an operator on these variables, whose attributes name the layouts, or None where the op is to follow its
    operands. It replaces one of a lower or the same `level`. `UnknownOpError` for a name of no op; a `PassError` tells
    when the pass runs that an answer is none.
    """
    kind = get_relay_op(op_name)

    def register(function: FunctionT) -> FunctionT:
        if level >= _LEVELS.get(kind, 0):
            _LEVELS[kind] = level
            alters_layout(kind, target="cpu")(_layout_hook(function))
            note_registration(function)
        return function

    if alter_layout is not None:
        register(cast(FunctionT, alter_layout))
    return register


def register_legalize(
    op_name: str, legal_op: Callable[..., object] | None = None, level: int = 10, *, attr_name: str = LEGALIZE
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says what takes the place of `op_name` in `transform.Legalize`.

    The function gets the attributes, the operands as expressions, and the types of the operands and, last, of the
    result. It returns an expression of the type of the result, or None where the op is to stay. It replaces one of a
    lower or the same `level`. `attr_name` names the list that the pass asks (`legalize_map_attr_name`).
    `UnknownOpError` for a name of no op; a `PassError` tells when the pass runs that an answer is none.
    """
    kind = get_relay_op(op_name)

    def register(function: FunctionT) -> FunctionT:
        if level >= _LEGALIZE_LEVELS.get((attr_name, kind), 0):
            _LEGALIZE_LEVELS[attr_name, kind] = level
            legalizes(kind, name=attr_name)(legalize_hook(function))
            note_registration(function)
        return function

    if legal_op is not None:
        register(cast(FunctionT, legal_op))
    return register


def register_mixed_precision_conversion(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says how `transform.ToMixedPrecision` does `op_name`.

    The function gets the call and the name of the mixed type. It returns a list of the category (0: always in the mixed
    type, 1: as its operands are, 2: never), the type of the result while it is summed up, and the type that others are
    to see: `[0, "float32", "float16"]`. It replaces what the operator declares, and one of a lower or the same `level`.
    `UnknownOpError` for a name of no op; a `PassError` tells when the pass runs that an answer is none.
    """
    kind = get_relay_op(op_name)

    def register(function: FunctionT) -> FunctionT:
        if level >= _PRECISION_LEVELS.get(kind, 0):
            _PRECISION_LEVELS[kind] = level
            sets_precision(kind)(_precision_hook(function))
            note_registration(function)
        return function

    if func is not None:
        register(cast(FunctionT, func))
    return register


def legalize_hook(function: Callable[..., object]) -> Callable[[RelayOp, Emitter], SSAValue | None]:
    """A hook of `transform.legalize_scope` for one of Relay's, as `register_legalize` takes it."""

    def hook(op: RelayOp, emit: Emitter) -> SSAValue | None:
        types = [*op.operand_types, *op.result_types]
        answer = function(Attrs(op), [view(operand) for operand in op.operands], types)
        if answer is not None and not isinstance(answer, Expr):
            raise PassError(f"it gave {answer!r}, not an expression")
        return None if answer is None else insert_behind(op, answer.ssa_value)

    hook.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return hook


def _precision_hook(function: Callable[..., object]) -> Callable[[RelayOp, Attribute], Precision]:
    """A hook of this project for one of Relay's."""

    def hook(op: RelayOp, mixed: Attribute) -> Precision:
        answer = function(view(op.results[0]), str(numpy_dtype(mixed)))
        fields = list(answer) if isinstance(answer, Sequence) else []
        if len(fields) != 3 or fields[0] not in tuple(MixedPrecision):
            raise PassError(f"returned {answer!r}, not a list of a category, 0 to 2, and two dtypes")
        category, accumulation, output = fields
        return Precision(
            MixedPrecision(cast(int, category)), element_type(str(accumulation)), element_type(str(output))
        )

    hook.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return hook


def _layout_hook(
    function: Callable[..., object],
) -> Callable[[RelayOp, Sequence[Layout | None], int], LayoutDecision | LayoutRefusal | None]:
    """A hook of this project for one of Relay's."""

    def hook(op: RelayOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal | None:
        inputs: list[Expr] = [Var(f"operand{number}") for number in range(len(op.operands))]
        types = [operand.type for operand in op.operands]
        answer = function(Attrs(op), inputs, types, op.results[0].type)
        return None if answer is None else _decision(op, answer, inputs)

    hook.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return hook


def _decision(op: RelayOp, answer: object, inputs: Sequence[Expr]) -> LayoutDecision | LayoutRefusal:
    """The layouts that the attributes of a call on `inputs` name."""
    made = op_of(answer) if isinstance(answer, Call) else None
    if not isinstance(answer, Call) or not isinstance(made, RelayOp) or answer.args != list(inputs):
        raise PassError(f"it gave {answer!r}, not a call of an operator on the inputs, in their order")
    layouts = getattr(made, "layouts", None)
    if not isinstance(layouts, tuple):
        raise PassError(f"the attributes of {made.relay_name()} name no layouts: use transform.alters_layout")
    named, owns = cast("tuple[Layout, ...]", layouts), cast("tuple[Layout, ...]", getattr(op, "layouts", ()))
    for own, wanted in zip(owns, named, strict=False):
        if wanted.primal != own.primal:
            raise PassError(f"{wanted} orders the axes of {own} anew, which transform.ConvertLayout does, not a hook")
    *operands, result = named
    fits = getattr(op, "with_layouts", None)
    refusal = fits(*operands, result) if callable(fits) and type(made) is type(op) else None
    if isinstance(refusal, LayoutRefusal):
        return refusal
    kind = None if type(made) is type(op) else type(made)
    return LayoutDecision(tuple(operands), result, dict(made.properties), kind)

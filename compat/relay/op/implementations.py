"""User-defined implementations of operators: computes and schedules written as tensor expressions.

    @relay.op.register_compute("acme.scale")
    def compute_scale(attrs, inputs, out_type):
        return [topi.multiply(inputs[0], attrs.factor)]

    relay.op.register_injective_schedule("acme.scale")

`level` is the priority among the implementations of an operator. Those of xrelay have 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType, TupleType
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.attribute_names import KERNEL_ANCHOR, STRATEGIES, TE_SCHEDULE
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.errors import InputError, LoweringError
from xrelay.lowering.relay_to_topi import registry as strategies
from xrelay.lowering.topi_to_loop.schedules.choose_family import register_family
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.raised import combine_classes, raised
from xrelay.registrations import note_caller, note_registration
from xrelay.relay.nodes import Attrs
from xrelay.relay.types import TypeView, type_view
from xrelay.target import Target
from xrelay.te.kernel import schedule_draft
from xrelay.te.lower import emit_compute
from xrelay.te.schedule import Schedule, create_schedule
from xrelay.te.tensor import ComputeOp, PlaceholderOp, Tensor, placeholder
from xrelay.topi import generic

FCompute: TypeAlias = Callable[[Attrs, list[Tensor], TypeView], object]
"""`f(attrs, inputs, out_type)` returns the operator's output tensors, made of `te.compute`s on the inputs."""

FSchedule: TypeAlias = Callable[[Any, list[Tensor], Target], object]
"""`f(attrs, outs, target)` returns the schedule of a kernel with these outputs. `attrs` is always None: a
kernel may contain several ops."""

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
Decorator: TypeAlias = Callable[[FunctionT], FunctionT]

DEFAULT_LEVEL = 10


@dataclass(frozen=True)
class OpImplementation:
    """One way to compute an operator. The implementation of the greatest `plevel` in a strategy is used."""

    name: str
    compute: FCompute
    schedule: FSchedule | None
    plevel: int


class OpStrategy:
    """The implementations of an operator on a target."""

    def __init__(self) -> None:
        self.implementations: list[OpImplementation] = []

    def add_implementation(
        self,
        compute: FCompute,
        schedule: FSchedule | None = None,
        name: str = "default",
        plevel: int = DEFAULT_LEVEL,
    ) -> None:
        """Adds an implementation. Without a schedule, kernels get the default schedule for their kind."""
        self.implementations.append(OpImplementation(name, compute, schedule, plevel))


def wrap_topi_compute(topi_compute: Callable[..., Tensor]) -> FCompute:
    """Converts a function of the inputs to a compute."""
    return lambda attrs, inputs, out_type: [topi_compute(*inputs)]


@cache
def wrap_topi_schedule(topi_schedule: Callable[[list[Tensor]], Schedule]) -> FSchedule:
    """Converts a function of the outputs to a schedule."""
    return lambda attrs, outs, target: topi_schedule(outs)


def register_compute(op_name: str, compute: FCompute | None = None, level: int = DEFAULT_LEVEL) -> Decorator[Any]:
    """Registers a compute: `f(attrs, inputs, out_type)` returns the tensors of `op_name`. May be used as a decorator.

    Tuple inputs are passed as their fields. Raises `InputError` if the operator has an implementation of this or a
    greater level. An invalid result of the function raises `LoweringError` during compilation.
    """
    kind = get_relay_op(op_name)
    note_caller()

    def register(function: FCompute) -> FCompute:
        implementation = OpImplementation(f"{kind.relay_name()}.te", function, None, level)
        _register(kind, implementation.name, level, function, lambda attrs, inputs, out_type: implementation)
        return function

    return _decorating(register, compute)


def register_strategy(op_name: str, fstrategy: Any = None, level: int = DEFAULT_LEVEL) -> Decorator[Any]:
    """Registers a strategy: `f(attrs, inputs, out_type, target)` returns an `OpStrategy`. May be used as a decorator.

    It is called for each op, and may be a `generic_func` with versions for targets. Errors are those of
    `register_compute`; a strategy without implementations is an error too.
    """
    kind = get_relay_op(op_name)
    note_caller()
    register_family("relay.op strategies", _strategy_family)

    def register(function: Callable[..., object]) -> Callable[..., object]:
        def choose(attrs: Attrs, inputs: list[Tensor], out_type: TypeView) -> OpImplementation:
            strategy = function(attrs, inputs, out_type, current_target())
            if not isinstance(strategy, OpStrategy) or not strategy.implementations:
                raise LoweringError(f"the strategy of {kind.relay_name()} returned no implementation: {strategy!r}")
            return max(strategy.implementations, key=lambda one: one.plevel)

        _register(kind, f"{kind.relay_name()}.strategy", level, function, choose)
        return function

    return _decorating(register, fstrategy)


def register_schedule(op_name: str, schedule: FSchedule | None = None, level: int = DEFAULT_LEVEL) -> Decorator[Any]:
    """Registers a schedule: `f(attrs, outs, target)` schedules kernels whose main op is `op_name`.

    May be used as a decorator. If the schedule is not legal for a kernel, a `RuntimeWarning` with the reason is issued
    and the kernel gets xrelay's schedule. A registration replaces those of a lower or the same `level`.
    """
    name = get_relay_op(op_name).relay_name()
    note_caller()

    def register(function: FSchedule) -> FSchedule:
        def family(draft: ScheduleDraft) -> bool:
            if name not in _main_ops(draft):
                return False
            schedule_draft(draft, lambda outs: function(None, list(outs), draft.target), name)
            draft.record_reason(f"registered for {name}")
            return True

        if level >= _SCHEDULE_LEVELS.get(name, 0):
            _SCHEDULE_LEVELS[name] = level
            register_family(f"relay.op:{name}", family)
            note_registration(function)
        return function

    return _decorating(register, schedule)


def register_injective_schedule(op_name: str, level: int = DEFAULT_LEVEL) -> None:
    """Schedules kernels of `op_name` by `topi.generic.schedule_injective`."""
    register_schedule(op_name, wrap_topi_schedule(generic.schedule_injective), level)
    note_caller()


register_broadcast_schedule = register_injective_schedule


def current_target() -> Target:
    """Returns the entered target, else that of this machine."""
    entered = Target.current()
    return entered if entered is not None else Target.host()


_SCHEDULE_LEVELS: dict[str, int] = {}
_SCHEDULES: dict[str, FSchedule] = {}
"""The schedules of strategies, by the label that their computes carry."""


def _decorating(register: Callable[[Any], Any], function: Any) -> Decorator[Any]:
    if function is not None:
        register(function)
    return register


def _register(
    kind: type[RelayOp],
    name: str,
    level: int,
    function: object,
    choose: Callable[[Attrs, list[Tensor], TypeView], OpImplementation],
) -> None:
    strategies.load()
    known = strategies.STRATEGIES.implementations(kind)
    if known and known[0].priority >= level:
        raise InputError(
            f"{kind.relay_name()} has the implementation {known[0].name} of level {known[0].priority}",
            help=f"register at level={known[0].priority + 1} to replace it",
        )

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
        return _build(emitter, choose, kind.relay_name())

    strategies.implements(kind, name, priority=level)(build)
    note_registration(function)


def _build(
    emitter: TopiBuilder, choose: Callable[[Attrs, list[Tensor], TypeView], OpImplementation], name: str
) -> Sequence[SSAValue]:
    """Inserts the computes of the implementation chosen for an op; returns their results."""
    operands = [
        value
        for index, operand in enumerate(emitter.op.operands)
        for value in (emitter.operands_of_tuple(index) if _is_tuple(operand) else [emitter.operand(index)])
    ]
    inputs = [_input(value, number) for number, value in enumerate(operands)]
    attrs, out_type = Attrs(cast(RelayOp, emitter.op)), type_view(emitter.op.results[0].type)
    try:
        chosen = choose(attrs, inputs, out_type)
        outs = chosen.compute(attrs, inputs, out_type)
    except Exception as error:
        raise combine_classes(LoweringError(f"the compute of {name} {raised(error)}"), error) from error
    tensors = [outs] if isinstance(outs, Tensor) else outs
    checked = _checked(tensors, emitter, name)
    values = dict(zip(inputs, operands, strict=True))
    ops = [tensor.op for tensor in checked if not isinstance(tensor.op, PlaceholderOp)]
    for stage in create_schedule(ops).stages if ops else ():
        if isinstance(stage.op, ComputeOp):
            made = emitter.insert(emit_compute(stage.op, stage.op.name, values))
            if chosen.schedule is not None:
                made.attributes[TE_SCHEDULE] = StringAttr(_schedule_label(f"{name}: {chosen.name}", chosen.schedule))
            values[stage.op.tensor] = made.results[0]
    return [values[tensor] for tensor in checked]


def _schedule_label(name: str, schedule: FSchedule) -> str:
    """Returns the key of a strategy's schedule in `_SCHEDULES`: the name, with a number if another schedule has it."""
    label = name
    for number in count(2):
        if _SCHEDULES.setdefault(label, schedule) is schedule:
            break
        label = f"{name} #{number}"
    return label


def _is_tuple(value: SSAValue) -> bool:
    return isinstance(value.type, TupleType)


def _input(value: SSAValue, number: int) -> Tensor:
    type = cast("TensorType[Attribute]", value.type)
    hint = value.name_hint if value.name_hint is not None else f"input{number}"
    return placeholder(type.get_shape(), numpy_dtype(type.element_type), hint)


def _checked(tensors: object, emitter: TopiBuilder, name: str) -> list[Tensor]:
    """Returns the tensors of a compute. Raises `LoweringError` if they do not match the operator's result types."""
    if not isinstance(tensors, (list, tuple)):
        raise LoweringError(f"the compute of {name} returned {tensors!r}", help="return a list of tensors")
    found = [item for item in cast("Sequence[object]", tensors) if isinstance(item, Tensor)]
    wanted = [(type.get_shape(), str(numpy_dtype(type.element_type))) for type in emitter.result_types]
    if [(tensor.shape, tensor.dtype) for tensor in found] != wanted:
        given = ", ".join(f"{tensor.dtype}{list(tensor.shape)}" for tensor in found)
        expected = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in wanted)
        raise LoweringError(f"the compute of {name} returned [{given}], the operator has [{expected}]")
    return found


def _main_ops(draft: ScheduleDraft) -> list[str]:
    """Returns Relay's names of the ops that determine a kernel's schedule: its anchor, else all its ops."""
    anchor = draft.kernel.attributes.get(KERNEL_ANCHOR)
    if isinstance(anchor, StringAttr):
        return [anchor.data]
    chosen = draft.kernel.attributes.get(STRATEGIES)
    texts = [item.data for item in chosen if isinstance(item, StringAttr)] if isinstance(chosen, ArrayAttr) else []
    return [text.partition(":")[0].removeprefix("relay.") for text in texts]


def _strategy_family(draft: ScheduleDraft) -> bool:
    """Schedules kernels whose computes carry the schedule of a strategy; returns whether it did."""
    for block in draft.blocks():
        named = block.attributes.get(TE_SCHEDULE)
        schedule = _SCHEDULES.get(named.data) if isinstance(named, StringAttr) else None
        if isinstance(named, StringAttr) and schedule is not None:
            schedule_draft(draft, lambda outs, run=schedule: run(None, list(outs), draft.target), named.data)
            draft.record_reason(f"the strategy's, {named.data}")
            return True
    return False

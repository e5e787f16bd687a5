"""Operators that a program defines by name, and attributes of operators, as Relay's users register them.

    relay.op.register("custom_op", "Adds two tensors.")
    op = relay.op.get("custom_op")
    op.set_num_inputs(2)
    op.add_type_rel("Broadcast")
    relay.op.register_pattern("custom_op", relay.op.OpPattern.BROADCAST)
    relay.op.register_compute("custom_op", lambda attrs, inputs, out_type: [topi.add(*inputs)])
    y = relay.Call(op, [x, x])

Such an operator has operands and a type. An operator with attributes, constraints or an ONNX form has to be an op
class: docs/extending.md.

| attribute | use |
| --- | --- |
| `target.NAME` | `transform.AnnotateTarget("NAME")`: whether the compiler supports a call |
| `FTVMAlterOpLayout` | `transform.AlterOpLayout`: the layouts of an operator on the CPU |
| `FTVMMixedPrecisionConversionType` | `transform.ToMixedPrecision`: the precision of an operator |
| `FTVMFakeQuantizationToInteger` | `transform.FakeQuantizationToInteger`: an operator's form on integers |
| `FTVMOptionalFakeQuantizationToInteger` | the same, for operators that are named in `optional_qnn_ops` |
| `FTVMLegalize` and any other | `transform.Legalize(name)`: the expression that replaces an operator |
| `TOpPattern` | the operator's kind for fusion; it can be set only for operators of `relay.op.register` |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final, NoReturn, TypeVar, cast

from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.operator_value import LEVEL, OperatorAttribute, Relation, UserOperator, make_operator
from xrelay.dialects.relay.core.registry import get_relay_op, register_relay_op, relay_ops
from xrelay.errors import ConstraintError, InputError
from xrelay.passes.layout import cpu_layout_hooks as cpu_layout_hooks  # registered first, so later hooks replace them
from xrelay.passes.layout.layout_hooks import alters_layout, forget_layout_hook, registered_layout_hook
from xrelay.passes.qnn.integer_rules import Write, forget_integer_hook, registered_integer_hook, writes_integers
from xrelay.passes.relay.legalize import forget_legalize_hook, legalizes, registered_legalize_hook
from xrelay.raised import combine_classes, raised
from xrelay.registrations import note_caller, note_registration
from xrelay.relay.byoc.hooks import forget_target_hook, registered_target_hook, takes
from xrelay.relay.nodes import Attrs
from xrelay.relay.op.hooks import integer_hook, layout_hook, legalize_hook, precision_hook, target_hook
from xrelay.relay.passes.to_mixed_precision import forget_precision_hook, registered_precision_hook, sets_precision
from xrelay.relay.types import TypeView, plain_type, type_view

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
Hook = Callable[..., object]

ALTER_OP_LAYOUT: Final = "FTVMAlterOpLayout"
MIXED_PRECISION: Final = "FTVMMixedPrecisionConversionType"
INTEGERS: Final = "FTVMFakeQuantizationToInteger"
OPTIONAL_INTEGERS: Final = "FTVMOptionalFakeQuantizationToInteger"
PATTERN: Final = "TOpPattern"
_TARGET: Final = "target."
_ELSEWHERE: Final = {
    "TOpPattern": "it is declared with the operator, as PATTERN",
    "target.": "target.NAME specifies the operators that the compiler NAME supports",
    "FTVMStrategy": "use relay.op.register_strategy",
    "FTVMCompute": "use relay.op.register_compute",
    "FTVMSchedule": "use relay.op.register_schedule",
}
"""Names that are set elsewhere, with the help text."""


def register_op_attr(
    op_name: str, attr_key: str, value: Any = None, level: int = LEVEL
) -> Callable[[FunctionT], FunctionT]:
    """Sets the attribute `attr_key` of the operator `op_name`. May be used as a decorator.

    The module's docstring lists the attributes that passes use. `relay.op` has a function for each, whose docstring
    specifies the value's arguments and result. An attribute of another name stores any value. A registration replaces
    those of a lower or the same `level`. Raises `UnknownOpError` for an unknown operator. Raises `InputError` for an
    attribute that is part of the op's definition, for a strategy, compute or schedule (`relay.op.register_strategy` and
    others register these), and for a hook that is not callable.
    """
    kind, attribute = get_relay_op(op_name), operator_attribute(attr_key)
    if isinstance(attribute, _DeclaredAttribute) and not issubclass(kind, UserOperator):
        attribute.refuse()

    def register(function: FunctionT) -> FunctionT:
        attribute.set(kind, function, level)
        return function

    if value is not None:
        register(value)
    return register


def relation_of(function: Callable[[list[TypeView], Attrs | None], object]) -> Relation:
    """Converts a type relation in Relay's form to a `Relation`."""

    def relation(facts: Facts) -> Attribute:
        try:
            answer = function([type_view(type) for type in facts], None)
        except ConstraintError:
            raise
        except Exception as error:
            message = f"the type relation {raised(error)}"
            raise combine_classes(ConstraintError(facts.op_name, "C2", message), error) from error
        type = plain_type(answer)
        facts.require(isinstance(type, Attribute), "C2", f"the type relation returned {answer!r}, which is not a type")
        return cast(Attribute, type)

    note_registration(function)
    return relation


@cache
def operator_attribute(name: str) -> OperatorAttribute:
    """Returns the attribute of a name."""
    if name in _ELSEWHERE:
        return _DeclaredAttribute(name)
    if name.startswith(_TARGET):
        target = name.removeprefix(_TARGET)
        return _Hooked(
            partial(registered_target_hook, target=target),
            lambda kind, hook: takes(kind, target=target)(hook),
            partial(forget_target_hook, target=target),
            target_hook,
            hooks_alone=True,
        )
    if name == ALTER_OP_LAYOUT:
        return _Hooked(
            partial(registered_layout_hook, target="cpu"),
            lambda kind, hook: alters_layout(kind, target="cpu")(hook),
            partial(forget_layout_hook, target="cpu"),
            layout_hook,
            hooks_alone=True,
        )
    if name == MIXED_PRECISION:
        return _Hooked(
            registered_precision_hook,
            lambda kind, hook: sets_precision(kind)(hook),
            forget_precision_hook,
            precision_hook,
            hooks_alone=True,
        )
    if name in (INTEGERS, OPTIONAL_INTEGERS):
        optional = name == OPTIONAL_INTEGERS
        return _Hooked(
            partial(registered_integer_hook, optional=optional),
            lambda kind, hook: writes_integers(kind, optional=optional)(cast("Write", hook)),
            partial(forget_integer_hook, optional=optional),
            integer_hook,
            hooks_alone=True,
        )
    return _Hooked(
        partial(registered_legalize_hook, name=name),
        lambda kind, hook: legalizes(kind, name=name)(hook),
        partial(forget_legalize_hook, name=name),
        legalize_hook,
    )


@dataclass(frozen=True)
class _Own:
    """A hook in xrelay's form as the value of an attribute, which can be set again."""

    hook: Hook


@dataclass(frozen=True)
class _Registration:
    """A value in Relay's form, its level, and the hook made from it."""

    value: Any
    level: int
    hook: Hook | None


@dataclass(frozen=True, eq=False)
class _Hooked:
    """An attribute that is a function called by a pass. `wrap` converts it to a hook in xrelay's form."""

    registered: Callable[[type[RelayOp]], Hook | None]
    put: Callable[[type[RelayOp], Hook], object]
    forget: Callable[[type[RelayOp]], None]
    wrap: Callable[[Hook], Hook]
    hooks_alone: bool = False
    registrations: dict[type[RelayOp], _Registration] = field(default_factory=dict)

    def get(self, kind: type[RelayOp]) -> Any:
        """Returns the value that was set last, or the registered hook in xrelay's form, or None."""
        registration, hook = self.registrations.get(kind), self.registered(kind)
        if registration is not None and registration.hook is hook:
            return registration.value
        return None if hook is None else _Own(hook)

    def set(self, kind: type[RelayOp], value: Any, level: int) -> None:
        """Registers the hook for `value`. A value that is not callable is stored, or refused with `hooks_alone`."""
        if self.hooks_alone and not isinstance(value, _Own) and not callable(value):
            raise InputError(f"{value!r} cannot be called", help="pass the function that the pass calls")
        registration = self.registrations.get(kind)
        if registration is not None and registration.hook is self.registered(kind) and level < registration.level:
            return
        self.forget(kind)
        hook = value.hook if isinstance(value, _Own) else self.wrap(value) if callable(value) else None
        self.registrations[kind] = _Registration(value, level, hook)
        if hook is not None:
            self.put(kind, hook)
        note_registration(value)

    def reset(self, kind: type[RelayOp]) -> None:
        """Removes the registered hooks, including those of this package."""
        self.registrations.pop(kind, None)
        self.forget(kind)
        note_registration(None)


@dataclass(frozen=True)
class _DeclaredAttribute:
    """An attribute that is defined elsewhere. The kind for fusion can be read."""

    name: str

    def get(self, kind: type[RelayOp]) -> Any:
        """Returns the operator's kind for fusion as Relay's number; None for other attributes."""
        return int(kind.PATTERN) if self.name == PATTERN else None

    def set(self, kind: type[RelayOp], value: Any, level: int) -> None:
        """Sets the kind for fusion of an operator registered by name. Raises `InputError` in all other cases."""
        if self.name != PATTERN or not issubclass(kind, UserOperator):
            self.refuse()
        if value not in list(OpPatternKind):
            raise InputError(f"{value!r} is not a kind of operators", help="use one of relay.op.OpPattern")
        kind.PATTERN = OpPatternKind(value)

    def reset(self, kind: type[RelayOp]) -> None:
        """Raises `InputError`: the attribute cannot be reset."""
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raises `InputError` with the place where the attribute is defined."""
        raise InputError(f"the attribute {self.name!r} cannot be registered", help=_ELSEWHERE[self.name])


class OpPattern:
    """Relay's kinds of operators for fusion."""

    ELEMWISE = OpPatternKind.ELEM_WISE
    BROADCAST = OpPatternKind.BROADCAST
    INJECTIVE = OpPatternKind.INJECTIVE
    COMM_REDUCE = OpPatternKind.COMM_REDUCE
    OUT_ELEMWISE_FUSABLE = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    TUPLE = OpPatternKind.TUPLE
    OPAQUE = OpPatternKind.OPAQUE


def register(op_name: str, describe: str = "") -> None:
    """Registers an operator called `op_name`. Raises `InputError` if it exists or the name is not valid."""
    legal = all(part.isidentifier() for part in op_name.split("."))
    if not legal:
        raise InputError(f"{op_name!r} is not a valid operator name", help="use words separated by dots")
    if op_name in relay_ops():
        raise InputError(f"the operator {op_name!r} exists already", help="use another name")
    kind: type[Operation] = make_operator(op_name, describe)
    assert issubclass(kind, UserOperator), "made as one"
    register_relay_op(kind)
    note_caller()


def register_pattern(op_name: str, pattern: int, level: int = LEVEL) -> None:
    """Sets the fusion kind of a registered operator. Raises `InputError` if its definition declares it."""
    register_op_attr(op_name, "TOpPattern", pattern, level)
    note_caller()


def register_stateful(op_name: str, stateful: bool, level: int = LEVEL) -> None:
    """Marks an operator as stateless. Raises `InputError` for a stateful one, as programs have no state."""
    if stateful:
        raise InputError(f"{op_name} has state, which is not supported", help="pass and return the state as a tensor")
    register_op_attr(op_name, "TOpIsStateful", False, level)

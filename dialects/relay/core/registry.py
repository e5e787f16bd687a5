"""Relay operators by full or short name: `get_relay_op("nn.conv2d")`. Other packages register theirs here."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar, cast

from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import document_constraints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.operator_modules import OPERATOR_MODULES
from xrelay.dialects.shared.op_lists import is_kind
from xrelay.errors import XRelayError, did_you_mean
from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules, import_registrations, note_registration

RelayOpT = TypeVar("RelayOpT", bound=type[RelayOp])
BaseT = TypeVar("BaseT", bound=RelayOp)

PREFIX = "relay."

_OPS: dict[str, type[RelayOp]] = {}

DIALECT_OPS: list[type[Operation]] = []
"""The ops of the dialect. The list grows when an op is registered later."""

_OPERATORS = "xrelay.dialects.relay.ops"
"""The package whose modules register xrelay's operators."""


class UnknownOpError(XRelayError):
    """No Relay operator has the name, or several share the short name."""


def register_relay_op(op: RelayOpT) -> RelayOpT:
    """Class decorator: registers the op under Relay's name. Raises `UnknownOpError` for a second class of this name.

    The class becomes an op by `irdl_op_definition`, unless it is one. An op of another dialect, such as
    `acme.l1_normalize`, keeps its name and belongs to a `Dialect` of its package. The op's declared constraints are
    added to its docstring.
    """
    if "get_irdl_definition" not in vars(op):
        op = irdl_op_definition(op)
    op.__doc__ = document_constraints(op.__doc__ or "", op.CONSTRAINTS)
    name = op.relay_name()
    if not op.__module__.startswith("xrelay."):
        _import_operator(name)
    if _OPS.setdefault(name, op) is not op:
        raise UnknownOpError(f"two classes register relay op {name!r}: {_OPS[name].__qualname__}, {op.__qualname__}")
    if op not in DIALECT_OPS and op.name.startswith(PREFIX):
        DIALECT_OPS.append(op)
    note_registration(op)
    return op


def import_operators() -> None:
    """Imports the modules of xrelay's operators, which register them."""
    import_modules(_OPERATORS)


def _import_operator(name: str) -> None:
    """Imports the module that defines xrelay's operator `name`, if there is one.

    An operator that is not yet in the table is found by `import_operators`.
    """
    if name in OPERATOR_MODULES:
        import_registrations([f"{_OPERATORS}.{OPERATOR_MODULES[name]}"])


def relay_ops() -> dict[str, type[RelayOp]]:
    """Returns all registered ops by Relay's name."""
    import_operators()
    load_plugins("ops")
    return dict(_OPS)


def relay_ops_of(base: type[BaseT]) -> tuple[type[BaseT], ...]:
    """Returns the registered ops that are `base` or derived from it."""
    import_operators()
    load_plugins("ops")
    return cast("tuple[type[BaseT], ...]", _derived(base, len(_OPS)))


@lru_cache(maxsize=64)
def _derived(base: type[RelayOp], count: int) -> tuple[type[RelayOp], ...]:
    """Returns the ops derived from `base`; `count`, the number of all ops, is part of the key because ops are added.

    It is cached, because it takes longer than a walk of a small program.
    """
    return tuple(op for op in _OPS.values() if is_kind(op, (base,)))


def get_relay_op(name: str) -> type[RelayOp]:
    """Returns the op called `name`: `nn.conv2d`, `relay.nn.conv2d`, or the short name `conv2d` if it is unambiguous.

    An op on plain numbers takes precedence over the `qnn` op of the same short name.
    Raises `UnknownOpError`, with the nearest names, if no op or several ops match.
    """
    full = name.removeprefix(PREFIX)
    if full not in _OPS:
        _import_operator(full)
    if full not in _OPS:
        import_operators()
        load_plugins("ops")
    if full in _OPS:
        return _OPS[full]
    shared = [key for key in _OPS if key.rpartition(".")[2] == full]
    plain = [key for key in shared if not key.startswith("qnn.")]
    by_short_name = plain if plain else shared
    if len(by_short_name) == 1:
        return _OPS[by_short_name[0]]
    if by_short_name:
        raise UnknownOpError(f"the short name {name!r} is ambiguous", help="use one of " + ", ".join(by_short_name))
    hint = did_you_mean(full, _OPS, f"there are {len(_OPS)}, among them {', '.join(sorted(_OPS)[:5])}")
    raise UnknownOpError(f"unknown relay op {name!r}", help=hint)

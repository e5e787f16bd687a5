"""Relay operators by name: `get_relay_op("nn.conv2d")`, by short name too; other packages register theirs here."""

from __future__ import annotations

from typing import TypeVar

from xdsl.ir import Operation

from xrelay.dialects.relay.core.constraints import documented
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.errors import XRelayError, did_you_mean
from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules, note_registration

RelayOpT = TypeVar("RelayOpT", bound=type[RelayOp])

PREFIX = "relay."

_OPS: dict[str, type[RelayOp]] = {}

DIALECT_OPS: list[type[Operation]] = []
"""The ops of the dialect. A list that grows, so that an op registered late still belongs."""

_OPERATORS = "xrelay.dialects.relay.ops"
"""The package whose modules register our operators."""


class UnknownOpError(XRelayError):
    """No Relay operator has the name, or several share the short one."""


def register_relay_op(op: RelayOpT) -> RelayOpT:
    """Class decorator: make the op known under Relay's name. A second class of the same name is refused.

    An op under the name of another dialect, such as `acme.l1_normalize`, keeps that name, and belongs to a `Dialect` of
    its package. The op's declared constraints are added to its docstring.
    """
    op.__doc__ = documented(op.__doc__ or "", op.CONSTRAINTS)
    name = op.relay_name()
    if _OPS.setdefault(name, op) is not op:
        raise UnknownOpError(f"two classes register relay op {name!r}: {_OPS[name].__qualname__}, {op.__qualname__}")
    if op not in DIALECT_OPS and op.name.startswith(PREFIX):
        DIALECT_OPS.append(op)
    note_registration(op)
    return op


def import_operators() -> None:
    """Import our operators, as who asks for all of them, or for one by its name, has not imported each."""
    import_modules(_OPERATORS)


def relay_ops() -> dict[str, type[RelayOp]]:
    """Every registered op by Relay's name."""
    import_operators()
    load_plugins("ops")
    return dict(_OPS)


def get_relay_op(name: str) -> type[RelayOp]:
    """The op called `name`: `nn.conv2d`, `relay.nn.conv2d`, or `conv2d` where only one op has that short name.

    An op on plain numbers goes before the one of `qnn` that is called as it is.
    Raises `UnknownOpError`, with the nearest names, where none or several match.
    """
    full = name.removeprefix(PREFIX)
    if full not in _OPS:
        import_operators()
    if full not in _OPS:
        load_plugins("ops")
    if full in _OPS:
        return _OPS[full]
    shared = [key for key in _OPS if key.rpartition(".")[2] == full]
    plain = [key for key in shared if not key.startswith("qnn.")]
    by_short_name = plain if plain else shared
    if len(by_short_name) == 1:
        return _OPS[by_short_name[0]]
    if by_short_name:
        raise UnknownOpError(f"the short name {name!r} is shared", help="write one of " + ", ".join(by_short_name))
    hint = did_you_mean(full, _OPS, f"there are {len(_OPS)}, among them {', '.join(sorted(_OPS)[:5])}")
    raise UnknownOpError(f"no relay op is called {name!r}", help=hint)

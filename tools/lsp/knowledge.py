"""Describes ops for an editor: their documentation, signatures and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptionalDef

from xrelay.dialects import ALL_DIALECTS, dialect_thunks
from xrelay.passes.infra.source import full_context


@cache
def known_ops() -> dict[str, type[Operation]]:
    """Returns the ops of the project's dialects by name."""
    return {op.name: op for dialect in ALL_DIALECTS for op in dialect_thunks()[dialect]().operations}


@cache
def op_class(name: str) -> type[Operation] | None:
    """Returns the class of an op of any dialect, or None."""
    return known_ops().get(name) or full_context().get_optional_op(name)


def documentation(name: str) -> str | None:
    """Returns the documentation of an op as Markdown: its docstring, then its operands, attributes and results."""
    op = op_class(name)
    if op is None:
        return None
    parts = [f"**{name}**", inspect.cleandoc(op.__doc__ or ""), *_signature(op)]
    return "\n\n".join(part for part in parts if part)


def _signature(op: type[Operation]) -> Iterator[str]:
    if not issubclass(op, IRDLOperation):
        return
    definition = op.get_irdl_definition()
    for title, names in (
        ("operands", [name for name, _ in definition.operands]),
        ("attributes", list(attributes(op.name))),
        ("results", [name for name, _ in definition.results]),
    ):
        if names:
            yield f"{title}: {', '.join(f'`{name}`' for name in names)}"


def attributes(name: str) -> dict[str, str]:
    """Returns the attributes of an op, each with a phrase: its default, or whether it is optional."""
    op = op_class(name)
    if op is None or not issubclass(op, IRDLOperation):
        return {}
    found: dict[str, str] = {}
    for attribute, kind in op.get_irdl_definition().properties.items():
        default = getattr(kind, "default_value", None)
        if default is not None:
            found[attribute] = f"default {default}"
        else:
            found[attribute] = "optional" if isinstance(kind, OptionalDef) else "required"
    return found

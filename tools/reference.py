"""`make reference`: writes the pages of `docs/reference` from the registered ops and converters.

The entry of an op has its docstring with constraints and an example, operands, attributes with defaults, and results;
for Relay's operators also the fusion pattern and the topi implementations.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from xdsl.ir import Operation
from xdsl.irdl import (
    IRDLOperation,
    OptionalDef,
    OptOperandDef,
    OptResultDef,
    PropertyDef,
    VarOperandDef,
    VarResultDef,
)

from xrelay.dialects import ALL_DIALECTS, dialect_thunks
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.frontend.onnx.op_reference import onnx_reference
from xrelay.lowering.relay_to_topi import registry as strategies

OPS = Path("docs/reference/ops.md")
ONNX_OPS = Path("docs/reference/onnx_ops.md")

_HEAD = """# Ops

Made by `make reference` from the classes of the ops: not to be edited. [relay.md](../relay.md),
[topi.md](../topi.md) and [loop.md](../loop.md) explain the levels; of Relay's operators that are not here,
[relay-operators.md](../relay-operators.md) says why.
"""


def ops_reference() -> str:
    """Returns the text of the page of ops."""
    strategies.load()
    parts = [_HEAD]
    for dialect in ALL_DIALECTS:
        own = [op for op in dialect_thunks()[dialect]().operations if op.__module__.startswith("xrelay.")]
        ops = sorted(own, key=lambda op: (op.__module__, op.name))
        parts.append(f"\n## {dialect}\n\n{len(ops)} ops.\n")
        for module, group in groupby(ops, key=lambda op: op.__module__):
            parts.append(f"\n### {_summary(module)}\n")
            parts += ["\n".join(_entry(op)) + "\n" for op in group]
    return "".join(parts)


def _summary(module: str) -> str:
    """Returns the summary in the module docstring of an op family."""
    text = inspect.cleandoc(sys.modules[module].__doc__ or module)
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")


def _entry(op: type[Operation]) -> Iterator[str]:
    yield f"\n#### `{op.name}`\n"
    # A Markdown list must follow an empty line.
    yield re.sub(r"(?m)^((?!\s*- ).+)\n(\s*- )", r"\1\n\n\2", inspect.cleandoc(op.__doc__ or "")) + "\n"
    if issubclass(op, IRDLOperation):
        yield from _signature(op)
    if issubclass(op, RelayOp):
        yield from _levels(op)


def _signature(op: type[IRDLOperation]) -> Iterator[str]:
    """Yields operands, attributes and results."""
    definition = op.get_irdl_definition()
    operands = [f"`{name}`{_times(kind, VarOperandDef, OptOperandDef)}" for name, kind in definition.operands]
    results = [f"`{name}`{_times(kind, VarResultDef, OptResultDef)}" for name, kind in definition.results]
    attributes = [_attribute(name, kind) for name, kind in definition.properties.items()]
    for title, entries in (("operands", operands), ("attributes", attributes), ("results", results)):
        if entries:
            yield f"- {title}: {', '.join(entries)}"


def _times(kind: object, several: type[object], maybe: type[object]) -> str:
    return " (maybe)" if isinstance(kind, maybe) else " (several)" if isinstance(kind, several) else ""


def _attribute(name: str, kind: PropertyDef) -> str:
    if kind.default_value is not None:
        return f"`{name} = {kind.default_value}`"
    return f"`{name}` (maybe)" if isinstance(kind, OptionalDef) else f"`{name}`"


def _levels(op: type[RelayOp]) -> Iterator[str]:
    """Yields the fusion pattern of an operator and its lowering to topi."""
    pattern = getattr(op, "PATTERN", None)
    if pattern is not None:
        yield f"- fuses as: {pattern.name.lower()}"
    known = strategies.STRATEGIES.implementations(op)
    names = [f"`{each.name}`" for each in known if each.build.__module__.startswith("xrelay.lowering.")]
    if names:
        yield f"- in topi: {', '.join(names)}"
    elif issubclass(op, CompositeOp):
        yield "- in topi: by other operators, to which it is expanded"


def main() -> int:
    """Writes the pages below the working directory, which must be the checkout."""
    OPS.parent.mkdir(exist_ok=True)
    OPS.write_text(ops_reference(), encoding="utf-8")
    ONNX_OPS.write_text(onnx_reference(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

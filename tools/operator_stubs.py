"""`make stubs`: writes the Python types of Relay's operators, derived from their definitions, to `operators.pyi`.

Type checkers cannot see functions that are created on first use. The stub has the names, types and defaults of their
parameters, and the first paragraph of the op's documentation, which an editor shows.
"""

from __future__ import annotations

import inspect
import keyword
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import OptionalDef, PropertyDef, VarOperandDef
from xdsl.utils.hints import isa

from xrelay import relay
from xrelay.dialects.relay.core.attribute_values import FloatArrayAttr, IntArrayAttr, floats, ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.relay.calls import BESIDE, OpFunction, op_function

STUB = Path("src/xrelay/relay/operators.pyi")
_BY_HAND = (
    "xrelay.relay.calls",
    "xrelay.relay.padding",
    "xrelay.relay.sparse_operators",
    "xrelay.relay.upsampling",
    "xrelay.relay.written_operators",
)
_ANY_VALUE = "from xrelay.dialects.relay.core.attribute_values import AttributeValue\n"
_HEAD = f'''"""Relay's operators as functions. Made by `make stubs` from their definitions: not to be edited."""

from collections.abc import Sequence
from typing import TypeAlias

from numpy.typing import DTypeLike
from xdsl.ir import Attribute

{_ANY_VALUE}from xrelay.relay.expr import Expr, ExprLike
from xrelay.relay.sparse_operators import SparseParts

Ints: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Expr
"""Integers, or an expression of them; where an operator wants several, one may stand for all of them."""
Floats: TypeAlias = float | Sequence[float] | Expr
"""Numbers, or a constant; where an operator wants several, one may stand for all of them."""
DType: TypeAlias = DTypeLike | Attribute
'''


def operator_stubs() -> str:
    """Returns the text of the stub."""
    spaces: defaultdict[str, list[tuple[str, type[RelayOp]]]] = defaultdict(list)
    for name, op in sorted(relay_ops().items()):
        space, _, short = name.rpartition(".")
        own = op.__module__.startswith("xrelay.") and (space or short not in relay.__all__)
        if own and short.isidentifier() and not keyword.iskeyword(short) and (not space or space.isidentifier()):
            spaces[space].append((short, op))
    lines = [_HEAD]
    for space in sorted(filter(None, spaces)):
        lines.append(f"class _{space.capitalize()}:")
        lines += (f"    {line}".rstrip() for name, op in spaces[space] for line in ("@staticmethod", *_stub(name, op)))
        lines += (f"    {line}".rstrip() for line in _beside(space))
        lines.append(f"\n{space}: _{space.capitalize()}\n")
    lines += (line for name, op in spaces[""] for line in _stub(name, op))
    lines += _beside("")
    # If a module has this name, such as `relay.qnn`, `relay` exports the module.
    own = [space for space in spaces if space and not isinstance(vars(relay).get(space), ModuleType)]
    names = sorted([*own, *(name for name, _ in spaces[""]), *(name for name in BESIDE if "." not in name)])
    lines += ["__all__ = [", *(f'    "{name}",' for name in names), "]"]
    text = "\n".join(lines) + "\n"
    return text if text.count("AttributeValue") > 1 else text.replace(_ANY_VALUE, "")


def _first_paragraph(doc: str | None) -> str:
    """Returns the first paragraph of a docstring on one line."""
    return " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())


def _stub(name: str, op: type[RelayOp]) -> Iterator[str]:
    """Yields the lines of one function."""
    yield f"def {name}("
    yield from (f"    {parameter}," for parameter in _parameters(op))
    yield ") -> Expr:"
    yield f'    """{_first_paragraph(op.__doc__)}"""'
    yield ""


def _beside(space: str) -> Iterator[str]:
    """Yields the lines of additional functions of a name space, which are not operators."""
    for name, function in sorted(BESIDE.items()):
        if name.rpartition(".")[0] == space:
            yield from (("@staticmethod",) if space else ())
            yield f"def {name.rpartition('.')[2]}("
            yield from (f"    {parameter}," for parameter in _written(function))
            yield from (") -> Expr:", f'    """{_first_paragraph(function.__doc__)}"""', "")


def _written(function: OpFunction) -> Iterator[str]:
    """Yields the parameters of a handwritten function, as annotated."""
    for parameter in inspect.signature(function).parameters.values():
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        yield f"{parameter.name}: {parameter.annotation}{default}"


def _parameters(op: type[RelayOp]) -> Iterator[str]:
    """Yields the parameters: those of a handwritten function as annotated, else the operands and attributes."""
    function = inspect.unwrap(op_function(op.relay_name()))
    if function.__module__ in _BY_HAND and "<locals>" not in function.__code__.co_qualname:
        yield from _written(function)
        return
    definition = op.get_irdl_definition()
    for name, operand in definition.operands:
        yield f"*{name}: ExprLike" if isinstance(operand, VarOperandDef) else f"{name}: ExprLike"
    variadic = any(isinstance(operand, VarOperandDef) for _, operand in definition.operands)
    attributes = [_attribute(name, property) for name, property in definition.properties.items()]
    if not variadic and any(" = " not in attribute for attribute in attributes):
        # Python requires parameters without defaults first. Relay's order takes precedence, so the rest are
        # keyword-only.
        first_default = next((i for i, attribute in enumerate(attributes) if " = " in attribute), len(attributes))
        if any(" = " not in attribute for attribute in attributes[first_default:]):
            attributes.insert(first_default, "*")
    yield from attributes


def _attribute(name: str, property: PropertyDef) -> str:
    """Returns the parameter for an attribute of the op."""
    default = property.default_value
    kind = _type_of(name, property, default)
    if isinstance(property, OptionalDef):
        return f"{name}: {kind} | None = None"
    return f"{name}: {kind}" if default is None else f"{name}: {kind} | None = {_literal(default)}"


def _type_of(name: str, property: PropertyDef, default: Attribute | None) -> str:
    """Returns the Python type of an attribute's values."""
    if name.endswith("dtype"):
        return "DType"
    if isa(default, IntegerAttr[IntegerType]) and default.type.width.data == 1:
        return "bool"
    bases = property.constr.get_bases()
    kinds: dict[type[Attribute], str] = {
        IntegerAttr: "int",
        FloatAttr: "float",
        StringAttr: "str",
        DenseArrayBase: "Ints",
    }
    if isa(default, FloatArrayAttr):
        return "Floats"
    names = {kinds.get(base) for base in bases} if bases is not None else {None}
    if names == {"int", "Ints"}:
        return "Ints"
    (kind,) = names if len(names) == 1 else (None,)
    return kind if kind is not None else "AttributeValue"


def _literal(default: Attribute) -> str:
    """Returns a default value as Python text."""
    if isa(default, IntegerAttr[IntegerType]):
        value = default.value.data
        return str(bool(value)) if default.type.width.data == 1 else str(value)
    if isinstance(default, FloatAttr):
        return repr(default.value.data)
    if isinstance(default, StringAttr):
        return f'"{default.data}"'
    if isa(default, FloatArrayAttr):
        return repr(floats(default))
    return repr(ints(default)) if isa(default, IntArrayAttr) else "..."


def main() -> int:
    """Writes the stub below the working directory, which must be the checkout."""
    STUB.write_text(operator_stubs(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The relay function under construction: where values go by their ONNX names and ops by their source nodes."""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.weights import Array

OpT = TypeVar("OpT", bound=Operation)


class GraphBuilder:
    """Appends ops to one block and keeps the value of every ONNX name met so far."""

    block: Block
    values: dict[str, SSAValue]

    def __init__(self, block: Block):
        self.block, self.values = block, {}

    def insert(self, op: OpT, source: str) -> OpT:
        """Append `op`; `source`, the name of the node it comes from, becomes its location."""
        op.location = NameLoc(StringAttr(source), NoneAttr())
        self.block.add_op(op)
        return op

    def define(self, name: str, value: SSAValue) -> None:
        """Bind an ONNX value name; the name becomes the SSA value's hint where it can."""
        self.values[name] = value
        if value.name_hint is None:
            value.name_hint = identifier(name)

    def define_constant(self, name: str, array: Array) -> None:
        """Bind an ONNX name to a constant called so."""
        op = ConstantOp.of(array, name)
        op.location = NameLoc(StringAttr(name), NoneAttr())
        self.block.add_op(op)
        self.define(name, op.result)


def identifier(name: str) -> str | None:
    """`name` with what an SSA name cannot hold replaced by `_`; `None` where nothing is left."""
    text = "".join(character if character.isascii() and character.isalnum() else "_" for character in name)
    text = text.strip("_")
    return f"v{text}" if text[:1].isdigit() else text or None

"""A digest of what a function computes: the same for equal programs, whatever their values are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import BINDS, HASH, REQUIRES
from xrelay.passes.graph.attribute_parts import AttributeFold, digest
from xrelay.passes.graph.value_uses import depth_first

DIGITS = 16
"""How many hexadecimal digits a digest has, as many as Relay's."""
_MEANINGLESS = {HASH, REQUIRES, BINDS, "group_name"}
"""Attributes that say nothing of what is computed: digests, what inference records, and names of groups."""


def body_digest(block: Block, attributes: Mapping[str, Attribute]) -> str:
    """A digest of a function's `attributes` and of its body, which is `block`; it is the same in every process.

    Operators, their attributes, types, constants and what is shared count. Names of values, source locations, the order
    of ops that do not need each other, and ops that the results do not need, do not. Iterative.
    """
    writer = _Writer()
    writer.write("function", *writer.said(attributes), *map(writer.described, block.args))
    for op in depth_first([block.last_op] if block.last_op is not None else [], _parts):
        writer.op(op)
    return writer.digest.hexdigest()


class _Writer:
    """Writes ops, in which values are numbers, to a digest."""

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=DIGITS // 2)
        self._numbers: dict[SSAValue, int] = {}
        self._attributes = AttributeFold(digest)

    def number(self, value: SSAValue) -> str:
        """The number of a value, given where it is met first."""
        return str(self._numbers.setdefault(value, len(self._numbers)))

    def described(self, value: SSAValue) -> str:
        """The number and the type of a value."""
        return f"{self.number(value)} {self._attributes.of(value.type).hex()}"

    def said(self, attributes: Mapping[str, Attribute]) -> list[str]:
        """Attributes in the order of their names, but for what means nothing."""
        return [
            f"{name}={self._attributes.of(attributes[name]).hex()}"
            for name in sorted(attributes)
            if name not in _MEANINGLESS
        ]

    def write(self, *parts: str) -> None:
        """Write texts, each with its length: no other series of texts gives the same bytes."""
        for part in (str(len(parts)), *parts):
            data = part.encode()
            self.digest.update(f"{len(data)}:".encode() + data)

    def op(self, op: Operation) -> None:
        """Write what `op` does with its operands."""
        if isinstance(op, ConstantOp):
            self.write(op.name, self.described(op.result))
            self.digest.update(op.array.tobytes())
            return
        properties = {} if isinstance(op, LetOp) else op.properties
        self.write(op.name, *self.said(properties), *self.said(op.attributes))
        self.write(*(self.number(value) for value in op.operands))
        for region in op.regions:
            for block in region.blocks:
                self.write(*map(self.described, block.args))
        self.write(*map(self.described, op.results))


def _parts(op: Operation) -> list[Operation]:
    """The ops that `op` needs: those of its operands, and the ends of its regions."""
    owners: Iterable[object] = (value.owner for value in op.operands)
    ends = (block.last_op for region in op.regions for block in region.blocks)
    return [part for part in (*owners, *ends) if isinstance(part, Operation)]

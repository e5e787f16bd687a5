"""A digest of the computation of a function. Equal programs have equal digests, whatever the names of their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import BINDS, HASH, REQUIRES
from xrelay.passes.infra.digraph import post_order
from xrelay.relay.passes.attribute_folds import AttributeFold, digest

DIGITS = 16
"""The number of hexadecimal digits of a digest, as in Relay."""


_MEANINGLESS = {HASH, REQUIRES, BINDS, "group_name"}
"""Attributes without effect on the computation: digests, records of type inference and names of groups."""


def body_digest(block: Block, attributes: Mapping[str, Attribute]) -> str:
    """Returns a digest of a function with these `attributes` and the body `block`; it is equal in every process.

    Operators, their attributes, types, constants and the sharing of values count. Names of values, source locations,
    the order of independent ops and unused ops do not count. The traversal is iterative.
    """
    writer = _Writer()
    writer.write("function", *writer.meaningful(attributes), *map(writer.described, block.args))
    for op in post_order([block.last_op] if block.last_op is not None else [], _dependencies):
        writer.op(op)
    return writer.digest.hexdigest()


class _Writer:
    """Writes ops to a digest, with values as numbers."""

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=DIGITS // 2)
        self._numbers: dict[SSAValue, int] = {}
        self._attributes = AttributeFold(digest)

    def number(self, value: SSAValue) -> str:
        """Returns the number of a value; values are numbered in the order of their first use."""
        return str(self._numbers.setdefault(value, len(self._numbers)))

    def described(self, value: SSAValue) -> str:
        """Returns the number and the type of a value."""
        return f"{self.number(value)} {self._attributes.of(value.type).hex()}"

    def meaningful(self, attributes: Mapping[str, Attribute]) -> list[str]:
        """Returns the attributes that affect the computation, in the order of their names."""
        return [
            f"{name}={self._attributes.of(attributes[name]).hex()}"
            for name in sorted(attributes)
            if name not in _MEANINGLESS
        ]

    def write(self, *parts: str) -> None:
        """Writes texts with their lengths, so that different lists of texts produce different bytes."""
        for part in (str(len(parts)), *parts):
            data = part.encode()
            self.digest.update(f"{len(data)}:".encode() + data)

    def op(self, op: Operation) -> None:
        """Writes the computation of `op` on its operands."""
        if isinstance(op, ConstantOp):
            self.write(op.name, self.described(op.result))
            self.digest.update(op.array.tobytes())
            return
        properties = {} if isinstance(op, LetOp) else op.properties
        self.write(op.name, *self.meaningful(properties), *self.meaningful(op.attributes))
        self.write(*(self.number(value) for value in op.operands))
        for region in op.regions:
            for block in region.blocks:
                self.write(*map(self.described, block.args))
        self.write(*map(self.described, op.results))


def _dependencies(op: Operation) -> list[Operation]:
    """Returns the ops that `op` depends on: the owners of its operands and the terminators of its regions."""
    owners: Iterable[object] = (value.owner for value in op.operands)
    ends = (block.last_op for region in op.regions for block in region.blocks)
    return [part for part in (*owners, *ends) if isinstance(part, Operation)]

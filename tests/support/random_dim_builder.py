"""The builder of random programs over named dimensions: values in scope, fresh names, ops as text."""

from __future__ import annotations

from support.choices import Choices
from support.random_dim_parts import UNKNOWN, Value, statement


class Builder:
    """A program being written; all decisions come from `choices`."""

    def __init__(self, choices: Choices, *, free: bool):
        """With `free`, bodies may run zero times, and extents may be computed at run time."""
        self.choices, self.free = choices, free
        self.values: list[Value] = []
        self.used: set[str] = set()
        self.sequence: Value | None = None
        """The sequence parameter of the program, with the rank of its elements; None if it is not in scope."""
        self.optional: Value | None = None
        """The optional parameter, likewise."""
        self.depth = 0
        self._count = 0

    def fresh(self) -> str:
        """Returns an unused name."""
        self._count += 1
        return f"%r{self._count}"

    def op(self, lines: list[str], name: str, *operands: str, attributes: str = "", type: str = UNKNOWN) -> str:
        """Adds an op on values of one type to `lines`; returns its result."""
        result = self.fresh()
        lines.append(statement(result, name, *operands, attributes=attributes, type=type))
        self.used |= set(operands)
        return result

    def value(self, *ranks: int) -> Value | None:
        """Returns one of the latest values of these ranks; of any rank if none is given."""
        found = [value for value in reversed(self.values) if not ranks or value.rank in ranks]
        return self.choices.pick(found[:4]) if found else None

    def any_value(self) -> Value:
        """Returns one of the latest values; there is always one."""
        found = self.value()
        assert found is not None
        return found

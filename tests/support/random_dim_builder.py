"""What random programs over named dimensions are built with: values that are there, fresh names, ops as text."""

from __future__ import annotations

from support.choices import Choices
from support.random_dim_parts import UNKNOWN, Value, statement


class Builder:
    """A program being written; `choices` decides everything."""

    def __init__(self, choices: Choices, *, free: bool):
        """With `free`, bodies may run never, and extents may be made while it runs."""
        self.choices, self.free = choices, free
        self.values: list[Value] = []
        self.used: set[str] = set()
        self.sequence: Value | None = None
        """A sequence that the program is given, with the rank of what it holds; where it is seen."""
        self.optional: Value | None = None
        """The same of an optional."""
        self.depth = 0
        self._count = 0

    def fresh(self) -> str:
        """A name that nothing has."""
        self._count += 1
        return f"%r{self._count}"

    def op(self, lines: list[str], name: str, *operands: str, attributes: str = "", type: str = UNKNOWN) -> str:
        """Add an op on values of one type to `lines`; its result."""
        result = self.fresh()
        lines.append(statement(result, name, *operands, attributes=attributes, type=type))
        self.used |= set(operands)
        return result

    def value(self, *ranks: int) -> Value | None:
        """One of the latest values of these ranks, all for none."""
        found = [value for value in reversed(self.values) if not ranks or value.rank in ranks]
        return self.choices.pick(found[:4]) if found else None

    def any_value(self) -> Value:
        """One of the latest values; there is always one."""
        found = self.value()
        assert found is not None
        return found

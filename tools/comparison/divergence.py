"""The values of two runs of a program, node by node, and the first value that differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from xrelay.api.comparison import DEFAULT_ATOL, DEFAULT_RTOL, Comparison, compare_outputs, largest_finite
from xrelay.errors import InputError, printable
from xrelay.tools.comparison.node_values import NodeValue


@dataclass(frozen=True)
class ValueRow:
    """A value in both runs."""

    value: NodeValue
    type: str
    comparison: Comparison | None
    """`None` if dtypes or shapes differ."""
    largest: float
    """The largest finite absolute value in the reference."""

    @property
    def agrees(self) -> bool:
        """Whether the value is within tolerance of the reference."""
        return self.comparison is not None and bool(self.comparison)

    def line(self) -> str:
        """Returns the row of the table: verdict, differences, and the value."""
        comparison = self.comparison
        differences = ("-", "-") if comparison is None else (f"{comparison.max_abs:.3g}", f"{comparison.max_rel:.3g}")
        cells = "".join(f"{each:>12}" for each in (*differences, f"{self.largest:.3g}"))
        verdict = "ok" if self.agrees else "DIFFERS"
        return f"{verdict:8}{cells}  {printable(self.value.name)} = {self.value.operator}: {self.type}"

    def details(self) -> str:
        """Returns the element that is furthest from the reference."""
        if self.comparison is None:
            return f"its type is {self.type}"
        place = ", ".join(map(str, self.comparison.index))
        own, reference = self.comparison.values
        return f"furthest apart at [{place}]: {own:.9g} and {reference:.9g}"

    def as_data(self) -> dict[str, object]:
        """Returns the row for JSON."""
        found = self.comparison
        return {
            "name": self.value.name,
            "operator": self.value.operator,
            "agrees": self.agrees,
            "max_abs": None if found is None else found.max_abs,
            "max_rel": None if found is None else found.max_rel,
            "index": None if found is None else list(found.index),
            "values": None if found is None else list(found.values),
        }


HEAD = f"{'':8}{'max abs':>12}{'max rel':>12}{'largest':>12}  value"
"""The first line of the table."""


def compared_values(
    values: Iterable[NodeValue],
    own: Mapping[str, NDArray[Any]],
    reference: Mapping[str, NDArray[Any]],
    levels: tuple[str, str],
    *,
    rtol: float = DEFAULT_RTOL,
    atol: float | None = None,
) -> Iterator[ValueRow]:
    """Yields a row for each value that both runs have. `atol` is a fraction of the largest value, 1e-4 by default."""
    for value in values:
        name = value.name.removeprefix("%")
        if name not in own or name not in reference:
            continue
        found, expected = own[name], reference[name]
        largest = largest_finite(expected)
        bound = (DEFAULT_ATOL if atol is None else atol) * largest
        type_text = f"{found.dtype}{list(found.shape)}"
        try:
            comparison = compare_outputs([name], [found], [expected], levels=levels, rtol=rtol, atol=bound)
        except InputError:
            type_text += f" and {expected.dtype}{list(expected.shape)}"
            comparison = None
        yield ValueRow(value, type_text, comparison, largest)


def report(rows: Sequence[ValueRow], levels: tuple[str, str], *, in_full: bool) -> Iterator[str]:
    """Yields the table, of all values or of those that differ, and a line about the first that differs."""
    different = [row for row in rows if not row.agrees]
    shown = rows if in_full else different
    if shown:
        yield HEAD
    yield from (row.line() for row in shown)
    if not different:
        yield f"{len(rows)} of {len(rows)} values agree: {levels[0]} against {levels[1]}"
        return
    first = different[0]
    yield f"{len(different)} of {len(rows)} values differ: {levels[0]} against {levels[1]}"
    yield f"first: {printable(first.value.name)} = {first.value.operator}, {first.details()}"

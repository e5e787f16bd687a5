"""Relay's reshape codes (0, -1, -2, -3, -4), over Dims."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.dialects.relay.core.facts import Facts
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, Shape, product, quotient, remainder


def reshaped(facts: Facts, shape: Shape, codes: Sequence[int], *, allow_zero: bool) -> Shape:
    """The shape that `codes` make of `shape`; constraints C1 to C3 of the op (see `relay.reshape`)."""
    reader = _CodeReader(facts, shape, codes, allow_zero)
    reader.read()
    return reader.finish()


class _CodeReader:
    """Walks codes and source extents side by side."""

    def __init__(self, facts: Facts, shape: Shape, codes: Sequence[int], allow_zero: bool):
        self.facts, self.shape, self.codes, self.allow_zero = facts, shape, codes, allow_zero
        self.result: list[Dim] = []
        self.source = 0
        self.inferred: int | None = None

    def read(self) -> None:
        """Turn every code into extents; an extent to infer is noted and stands as 1."""
        position = 0
        while position < len(self.codes):
            code = self.codes[position]
            position += 1
            if code > 0 or (code == 0 and self.allow_zero):
                self.result.append(code)
                self.source += 1
            elif code == 0:
                self.result.append(self._take())
            elif code == -1:
                self._note_inferred()
            elif code == -2:
                self.result.extend(self.shape[self.source :])
                self.source = len(self.shape)
            elif code == -3:
                self.result.append(self._take() * self._take())
            elif code == -4:
                self._split(self.codes[position : position + 2])
                position += 2
            else:
                self.facts.require(False, "C1", f"reshape code {code} is not one of 0, -1, -2, -3, -4 or an extent")

    def finish(self) -> Shape:
        """Solve the extent that -1 stands for and compare the element counts."""
        total, known = product(self.shape), product(self.result)
        what = f"element counts of {_text(self.shape)} and {_text(self.result)} differ:"
        if self.inferred is None:
            self.facts.require_equal(total, known, "C3", what)
            return tuple(self.result)
        self.facts.require(known != 0, "C3", "-1 beside an extent of 0 can be anything")
        if isinstance(total, AnyDim) or isinstance(known, AnyDim):
            self.result[self.inferred] = ANY
            return tuple(self.result)
        self.facts.require_equal(remainder(total, known), 0, "C3", f"{total} elements modulo {known}:")
        self.result[self.inferred] = quotient(total, known)
        return tuple(self.result)

    def _take(self) -> Dim:
        self.facts.require(
            self.source < len(self.shape), "C2", f"codes {list(self.codes)} use more than the {len(self.shape)} extents"
        )
        self.source += 1
        return self.shape[self.source - 1]

    def _note_inferred(self) -> None:
        self.facts.require(self.inferred is None, "C1", f"codes {list(self.codes)} have -1 twice")
        self.inferred = len(self.result)
        self.result.append(1)
        self.source += 1

    def _split(self, parts: Sequence[int]) -> None:
        self.facts.require(
            len(parts) == 2 and all(part > 0 or part == -1 for part in parts) and tuple(parts) != (-1, -1),
            "C1",
            f"-4 needs two extents after it, one of which may be -1, found {list(parts)}",
        )
        whole = self._take()
        known = parts[0] if parts[0] > 0 else parts[1]
        self.facts.require_equal(whole % known, 0, "C3", f"extent {whole} modulo {known}:")
        first = parts[0] if parts[0] > 0 else whole // known
        second = parts[1] if parts[1] > 0 else whole // known
        self.facts.require_equal(first * second, whole, "C3", f"extents {first} * {second} do not make {whole}:")
        self.result += (first, second)


def _text(shape: Sequence[Dim]) -> str:
    return "(" + ", ".join(str(dim) for dim in shape) + ")"

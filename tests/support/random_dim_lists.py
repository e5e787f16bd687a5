"""Sequences and optionals of random programs over named dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32

from support.random_dim_parts import NUMBER, TRUTH, UNKNOWN, Part, Value, statement, text_of, yielded


def tensor_of(rank: int) -> str:
    """The type of a list's elements, of unknown extents."""
    return str(TensorType(f32, [DYNAMIC_INDEX] * rank))


@dataclass(frozen=True)
class Filling(Part):
    """A sequence with insertions into another one: one in each iteration of a loop, or one in a single branch."""

    result: str
    given: str
    rank: int
    value: str
    times: str | None
    """The trip count of the loop; None for a branch."""

    def lines(self, branch: int | None) -> list[str]:
        """The loop or the branches."""
        name, type = self.result, f"!relay.sequence<{tensor_of(self.rank)}>"
        inserted = statement(f"{name}_n", "sequence_insert", f"{name}_c" if self.times else self.given, self.value)
        if self.times is None:
            head = f"{name} = relay.if %cond : {TRUTH} -> {UNKNOWN} {{"
            return [text_of([head, inserted, yielded(f"{name}_n"), "} else {", yielded(self.given), "}"])]
        head = (
            f"{name}_l = relay.loop({name}_i, {name}_c : {type} = {self.given} : {UNKNOWN})"
            f" to {self.times} : {NUMBER} -> {UNKNOWN} {{"
        )
        inserted = f"{name}_n = relay.sequence_insert({name}_c, {self.value}) : ({type}, {UNKNOWN}) -> {UNKNOWN}"
        end = [statement(f"{name}_y", "tuple", f"{name}_n"), yielded(f"{name}_y"), "}"]
        taken = statement(name, "tuple_get_item", f"{name}_l", attributes="{index = 0} ")
        return [text_of([head, inserted, *end]), taken]


@dataclass(frozen=True)
class Perhaps(Part):
    """An optional that has a value if the condition holds; the result is that value or another one.

    Unless it `asks` for a value first, the program fails without one.
    """

    result: str
    value: Value
    other: Value
    asks: bool

    def lines(self, branch: int | None) -> list[str]:
        """The optional, and the value."""
        name, type = self.result, f"!relay.optional<{tensor_of(self.value.rank)}>"
        some = statement(f"{name}_s", "optional_construct", self.value.name)
        none = f"{name}_n = relay.optional_construct() {{of = {tensor_of(self.value.rank)}}} : () -> {type}"
        head = f"{name}_o = relay.if %cond : {TRUTH} -> {UNKNOWN} {{"
        made = text_of([head, some, yielded(f"{name}_s"), "} else {", none, yielded(f"{name}_n", type), "}"])
        if not self.asks:
            return [made, statement(name, "optional_get_element", f"{name}_o")]
        asked = f"{name}_c = relay.optional_has_element({name}_o) : ({UNKNOWN}) -> {TRUTH}"
        taken = statement(f"{name}_v", "optional_get_element", f"{name}_o")
        ends = [yielded(f"{name}_v"), "} else {", yielded(self.other.name), "}"]
        return [made, asked, text_of([f"{name} = relay.if {name}_c : {TRUTH} -> {UNKNOWN} {{", taken, *ends])]


@dataclass(frozen=True)
class Taken(Part):
    """A sequence parameter of the program: unchanged if the condition holds, otherwise with one more value."""

    result: str
    given: Value
    value: str | None

    def lines(self, branch: int | None) -> list[str]:
        """The branches."""
        name, type = self.result, f"!relay.sequence<{tensor_of(self.given.rank)}>"
        head = f"{name} = relay.if %cond : {TRUTH} -> {UNKNOWN} {{"
        inserted = (
            f"{name}_n = relay.sequence_insert({self.given.name}, {self.value}) : ({type}, {UNKNOWN}) -> {UNKNOWN}"
        )
        same = yielded(self.given.name, type)
        other = [same] if self.value is None else [inserted, yielded(f"{name}_n")]
        return [text_of([head, same, "} else {", *other, "}"])]


@dataclass(frozen=True)
class Unpacked(Part):
    """The value of an optional parameter, or if it is empty and the program asks first, another value."""

    result: str
    given: Value
    other: Value
    asks: bool

    def lines(self, branch: int | None) -> list[str]:
        """The value."""
        name, optional = self.result, f"!relay.optional<{tensor_of(self.given.rank)}>"
        if not self.asks:
            return [statement(name, "optional_get_element", self.given.name, type=optional)]
        asked = f"{name}_c = relay.optional_has_element({self.given.name}) : ({optional}) -> {TRUTH}"
        taken = statement(f"{name}_v", "optional_get_element", self.given.name, type=optional)
        ends = [yielded(f"{name}_v"), "} else {", yielded(self.other.name), "}"]
        return [asked, text_of([f"{name} = relay.if {name}_c : {TRUTH} -> {UNKNOWN} {{", taken, *ends])]


@dataclass(frozen=True)
class ListOps(Part):
    """A sequence that is made, changed and read, as ops in the order of their uses."""

    result: str
    body: Sequence[str | Part]

    def lines(self, branch: int | None) -> list[str]:
        """The ops."""
        return [line for each in self.body for line in ([each] if isinstance(each, str) else each.lines(branch))]

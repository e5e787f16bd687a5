"""Loops of random programs over named dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from support.random_dim_parts import (
    NUMBER,
    TRUTH,
    UNKNOWN,
    Body,
    Part,
    Steps,
    Value,
    flat,
    functions_of,
    statement,
    text_of,
    yielded,
)


@dataclass(frozen=True)
class Loop(Part):
    """A loop that carries a value and stacks sums, for a number of times or while a condition holds."""

    result: str
    steps: Steps
    initial: str
    times: str
    """The name of the trip count."""
    condition: str | None
    """The name of the first condition of a loop that ends early if a sum is not positive."""
    stacked: bool
    """Whether the result is the stack, instead of the carried value."""

    def lines(self, branch: int | None) -> list[str]:
        """The loop and its result."""
        name, carried = self.result, self.steps.carried.name
        ends = self.condition is not None
        going = [statement(f"{name}_go", "greater", f"{carried}_s", "%zero")] if ends else []
        values = [*([f"{name}_go"] if ends else []), self.steps.next, f"{carried}_s"]
        condition = f" while {self.condition} : {TRUTH}" if ends else ""
        head = (
            f"{name}_l = relay.loop({name}_i, {carried} : {UNKNOWN} = {self.initial} : {UNKNOWN})"
            f" to {self.times} : {NUMBER}{condition} -> {UNKNOWN} {{"
        )
        end = [statement(f"{name}_y", "tuple", *values), yielded(f"{name}_y"), "}"]
        taken = statement(name, "tuple_get_item", f"{name}_l", attributes=f"{{index = {int(self.stacked)}}} ")
        return [text_of([head, *self.steps.lines(branch), *going, *end]), taken]

    def functions(self) -> list[str]:
        """The functions that the body calls."""
        return list(functions_of(self.steps.body))


@dataclass(frozen=True)
class Carry:
    """A value that a loop carries."""

    value: Value
    initial: str
    next: str
    varies: bool
    """Whether its extents may change in each iteration; the body then uses its negative."""

    @property
    def argument(self) -> str:
        """The name of the body's argument."""
        return f"{self.value.name}{'_a' * self.varies}"

    @property
    def type(self) -> str:
        """The type of the body's argument."""
        return self.value.type(f"l{self.value.name.removeprefix('%r')}") if self.varies else UNKNOWN


@dataclass(frozen=True)
class CarryingLoop(Part):
    """A loop that carries several values, which may grow or be swapped; the result is one of the values."""

    result: str
    carries: Sequence[Carry]
    body: Body
    stacked: Sequence[str]
    times: str
    goes_on: str | None
    """The value whose sum must be positive for the loop to continue; None without a condition."""
    taken: int

    def lines(self, branch: int | None) -> list[str]:
        """The loop and its result."""
        name, asked, going = self.result, list[str](), list[str]()
        if self.goes_on is not None:
            asked.append(statement(f"{name}_s", "sum", self.goes_on))
            asked.append(statement(f"{name}_go", "greater", f"{name}_s", "%zero"))
            going.append(f"{name}_go")
        carried = [f"{each.argument} : {each.type} = {each.initial} : {UNKNOWN}" for each in self.carries]
        condition = f" while %true : {TRUTH}" if going else ""
        arguments = ", ".join([f"{name}_i", *carried])
        head = f"{name}_l = relay.loop({arguments}) to {self.times} : {NUMBER}{condition} -> {UNKNOWN} {{"
        opened = [
            statement(each.value.name, "negative", each.argument, type=each.type)
            for each in self.carries
            if each.varies
        ]
        values = [*going, *(each.next for each in self.carries), *self.stacked]
        known = {each.argument: each.type for each in self.carries}
        types = ", ".join(known.get(value, UNKNOWN) for value in values)
        end = [f"{name}_y = relay.tuple({', '.join(values)}) : ({types}) -> {UNKNOWN}", yielded(f"{name}_y"), "}"]
        taken = statement(name, "tuple_get_item", f"{name}_l", attributes=f"{{index = {self.taken}}} ")
        return [text_of([head, *opened, *flat(self.body, branch), *asked, *end]), taken]

    def functions(self) -> list[str]:
        """The functions that the body calls."""
        return list(functions_of(self.body))

"""Closures of random programs over named dimensions: passed to functions, recursive, or returned to callers."""

from __future__ import annotations

from dataclasses import dataclass

from support.random_dim_functions import Chosen
from support.random_dim_parts import (
    NUMBER,
    UNKNOWN,
    Part,
    Steps,
    Value,
    functions_of,
    statement,
    text_of,
    yielded,
)


def function_type(type: str) -> str:
    """The type of a function from a type to itself."""
    return f"({type}) -> {type}"


@dataclass(frozen=True)
class HandedOn(Part):
    """A closure chosen at run time, passed to a function that calls it and passes it on until its fuel is 0."""

    result: str
    chosen: Chosen
    operand: Value
    fuel: str
    wraps: bool
    """Whether the function passes on another closure, which calls the one it received."""

    def lines(self, branch: int | None) -> list[str]:
        """The choice, and the first call."""
        called = f"{self.result} = relay.call @{self._name}({self.fuel}, {self.chosen.result}, {self.operand.name})"
        return [*self.chosen.lines(branch), f"{called} : ({NUMBER}, {UNKNOWN}, {UNKNOWN}) -> {UNKNOWN}"]

    def functions(self) -> list[str]:
        """The function, and the functions that the closures call."""
        type = self.operand.type("s")
        wrapped = [
            f"%w = relay.fn(%b : {type}) -> {type} {{",
            f"%c = relay.subtract(%b, %a) : ({type}, {type}) -> {type}",
            f"%d = relay.invoke %f(%c) : ({type}) -> {type}",
            yielded("%d", type),
            "}",
        ]
        body = [
            f"%unit = relay.constant dense<1> : {NUMBER}",
            f"%empty = relay.constant dense<0> : {NUMBER}",
            statement("%go", "greater", "%fuel", "%empty", type=NUMBER),
            f"%r = relay.if %go : {UNKNOWN} -> {type} {{",
            f"%a = relay.invoke %f(%q) : ({type}) -> {type}",
            *(wrapped if self.wraps else []),
            f"%less = relay.subtract(%fuel, %unit) : ({NUMBER}, {NUMBER}) -> {NUMBER}",
            f"%again = relay.call @{self._name}(%less, {'%w' if self.wraps else '%f'}, %a)"
            f" : ({NUMBER}, {function_type(type)}, {type}) -> {UNKNOWN}",
            yielded("%again"),
            "} else {",
            yielded("%q", type),
            "}",
            f"func.return %r : {type}",
        ]
        parameters = f"%fuel: {NUMBER}, %f: {function_type(type)}, %q: {type}"
        head = f"func.func private @{self._name}({parameters}) -> {type} {{"
        return [f"{head}\n  {text_of(body)}\n}}\n", *self.chosen.functions()]

    @property
    def _name(self) -> str:
        return f"hand{self.result.removeprefix('%')}"


@dataclass(frozen=True)
class RecursiveClosure(Part):
    """A closure that uses outer values, and calls itself until its fuel is 0."""

    result: str
    steps: Steps
    operand: Value
    fuel: str
    adds: bool
    """Whether it also computes after the recursive call."""

    def lines(self, branch: int | None) -> list[str]:
        """The closure, and the first call."""
        name, type = self.result, self.operand.type(f"c{self.result.removeprefix('%r')}")
        own = f"({NUMBER}, {type}) -> {type}"
        carried = self.steps.carried.name
        back = f"{name}_b = relay.invoke {name}_f_self({name}_less, {self.steps.next}) : ({NUMBER}, {UNKNOWN})"
        closure = [
            f"{name}_f = relay.fn rec({name}_f_self)({name}_k : {NUMBER}, {name}_q : {type}) -> {type} {{",
            f"{name}_u = relay.constant dense<1> : {NUMBER}",
            f"{name}_e = relay.constant dense<0> : {NUMBER}",
            statement(f"{name}_go", "greater", f"{name}_k", f"{name}_e", type=NUMBER),
            f"{name}_i = relay.if {name}_go : {UNKNOWN} -> {type} {{",
            statement(carried, "negative", f"{name}_q", type=type),
            *self.steps.lines(branch),
            f"{name}_less = relay.subtract({name}_k, {name}_u) : ({NUMBER}, {NUMBER}) -> {NUMBER}",
            f"{back} -> {UNKNOWN} of {own}",
            *([statement(f"{name}_a", "add", f"{name}_b", carried)] if self.adds else []),
            yielded(f"{name}_a" if self.adds else f"{name}_b"),
            "} else {",
            yielded(f"{name}_q", type),
            "}",
            yielded(f"{name}_i", type),
            "}",
        ]
        called = f"{name} = relay.invoke {name}_f({self.fuel}, {self.operand.name}) : ({NUMBER}, {UNKNOWN})"
        return [text_of(closure), f"{called} -> {UNKNOWN} of {own}"]

    def functions(self) -> list[str]:
        """The functions that the body calls."""
        return list(functions_of(self.steps.body))


@dataclass(frozen=True)
class Taker(Part):
    """A closure of a function and a value that applies the function twice; the program's caller calls it."""

    result: str
    seen: Value
    """A value from outside, whose sum is added between the two calls."""
    rank: int

    def lines(self, branch: int | None) -> list[str]:
        """The closure."""
        name = self.result
        type = _taken(Value(name, self.rank))
        head = f"{name} = relay.fn({name}_k : {function_type(type)}, {name}_x : {type}) -> {type} {{"
        body = [
            f"{name}_a = relay.invoke {name}_k({name}_x) : {function_type(type)}",
            statement(f"{name}_s", "sum", self.seen.name),
            f"{name}_b = relay.add({name}_a, {name}_s) : ({type}, {UNKNOWN}) -> {type}",
            f"{name}_c = relay.invoke {name}_k({name}_b) : {function_type(type)}",
            yielded(f"{name}_c", type),
        ]
        return [text_of([head, *body, "}"])]


def taker_type(taker: Value) -> str:
    """The type of a closure of a function and a value."""
    type = _taken(taker)
    return f"({function_type(type)}, {type}) -> {type}"


def _taken(taker: Value) -> str:
    return taker.type(f"t{taker.name.removeprefix('%r')}")

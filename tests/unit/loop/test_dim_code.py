"""Code for dimensions computes the result of `evaluate`, and its checks fail if that is undefined."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.dim_trees import Tree, dim_of, trees
from xdsl.builder import Builder
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.loop.extents import MAX_EXTENT
from xrelay.errors import DimensionError, LoweringError
from xrelay.index_algebra.dims import ANY, Dim, broadcast, evaluate, maximum, symbol
from xrelay.index_algebra.requirement import AtLeast, Broadcasts, Divides, Equal, Requirement
from xrelay.interpreters.scalar import Value, compile_scalar
from xrelay.passes.loop.dim_code import DimCode

NAMES = ("n", "m")
n, m = symbol("n"), symbol("m")
SIZES = st.one_of(st.integers(0, 12), st.sampled_from([100, 1 << 20, 1 << 31, 1 << 40, MAX_EXTENT]))


class Emitted:
    """A block of code for dimensions, which can be run."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[IndexType()] * len(NAMES))
        self.code = DimCode(dict(zip(NAMES, self.block.args, strict=True)), Builder(InsertPoint.at_end(self.block)))

    def run(self, sizes: Mapping[str, int]) -> dict[SSAValue, Value]:
        values: dict[SSAValue, Value] = {
            argument: np.int64(sizes[name]) for name, argument in zip(NAMES, self.block.args, strict=True)
        }
        with np.errstate(over="ignore"):
            for op in self.block.ops:
                values[op.results[0]] = compile_scalar(op)(*(values[operand] for operand in op.operands))
        return values

    def count(self, name: str) -> int:
        return sum(op.name == name for op in self.block.ops)


@given(tree=trees(), sizes=st.fixed_dictionaries(dict.fromkeys(NAMES, SIZES)))
def test_code_gives_what_evaluate_gives(tree: Tree, sizes: dict[str, int]) -> None:
    try:
        dim = dim_of(tree)
    except (DimensionError, ZeroDivisionError):
        return
    emitted = Emitted()
    value = emitted.code.value(dim)
    values = emitted.run(sizes)
    fine = all(values[check.holds] for check in emitted.code.checks)
    try:
        wanted = evaluate(dim, sizes)
    except DimensionError:
        assert not fine
        return
    if fine:
        assert values[value] == wanted
    else:
        assert any(check.requirement is None and "64 bits" in check.text for check in emitted.code.checks)
        assert max(sizes.values()) >= 1 << 20


@pytest.mark.parametrize(
    "requirement", [Equal(n, 2 * m), AtLeast(n, m + 1), Divides(m, n), Divides(4, n), Broadcasts(n, m)]
)
def test_requirements(requirement: Requirement) -> None:
    for sizes in ({"n": a, "m": b} for a in (0, 1, 4, 6) for b in (0, 1, 2, 3)):
        emitted = Emitted()
        holds = emitted.code.holds(requirement)
        assert bool(emitted.run(sizes)[holds]) == requirement.holds(sizes), sizes


def test_common_parts_are_emitted_once() -> None:
    emitted = Emitted()
    half = (n * m + 1) // 2
    for dim in (half, half + 1, half * 3, n * m, (n * m + 1) % 2):
        emitted.code.value(dim)
    emitted.code.value(half)
    assert (emitted.count("arith.divui"), emitted.count("arith.remui")) == (1, 1)
    assert emitted.count("arith.muli") == 2


@pytest.mark.parametrize(
    ("dim", "bad", "text"),
    [
        (n // m, {"n": 4, "m": 0}, "m >= 1"),
        (n // (m - 1), {"n": 4, "m": 1}, "m - 1 is not 0"),
        (broadcast(n, m), {"n": 4, "m": 2}, "broadcastable(m, n)"),
        (n * m, {"n": 1 << 40, "m": 1 << 40}, "m * n fits in 64 bits"),
    ],
)
def test_what_has_no_value_fails_a_check(dim: Dim, bad: dict[str, int], text: str) -> None:
    emitted = Emitted()
    emitted.code.value(dim)
    values = emitted.run(bad)
    assert [check.text for check in emitted.code.checks if not values[check.holds]] == [text]


def test_extents_are_held_in_their_range() -> None:
    emitted = Emitted()
    for dim in (n, maximum(n - 3, 0), n // 2):
        emitted.code.extent(dim)
    assert not emitted.code.checks
    emitted.code.extent(n - 3)
    emitted.code.extent(2 * n)
    assert [check.text for check in emitted.code.checks] == ["n - 3 >= 0", f"{MAX_EXTENT} >= 2 * n"]


def test_code_stands_where_its_names_become_known() -> None:
    first, then = Block(arg_types=[IndexType()]), Block(arg_types=[IndexType()])
    code = DimCode({"n": first.args[0]}, Builder(InsertPoint.at_end(first)))
    place = code.enter({"m": then.args[0]}, Builder(InsertPoint.at_end(then)))
    code.extent(n // 2 + 3 - m)
    assert [op.name for op in then.ops] == ["arith.subi", "arith.cmpi"]
    assert {"arith.divui", "arith.addi"} <= {op.name for op in first.ops}
    assert [check.text for check in place.checks] == ["-m + n floordiv 2 + 3 >= 0"]
    code.leave(place)
    with pytest.raises(LoweringError, match="m is not known here"):
        code.value(n + m)
    again = Block(arg_types=[IndexType()])
    code.enter({"m": again.args[0]}, Builder(InsertPoint.at_end(again)))
    assert code.value(n // 2 + 3 - m) in [op.results[0] for op in again.ops]


def test_what_may_fail_stands_in_the_branch_that_asks_for_it() -> None:
    emitted, branch = Emitted(), Block(arg_types=[IndexType()])
    place = emitted.code.enter({"k": branch.args[0]}, Builder(InsertPoint.at_end(branch)))
    with emitted.code.within(place):
        emitted.code.extent(broadcast(n, m) + 2 * n + symbol("k"))
    assert emitted.count("arith.select") == 0
    assert emitted.count("arith.muli") == 1
    assert "broadcastable(m, n)" in [check.text for check in place.checks]
    assert not emitted.code.checks
    with emitted.code.within(place):
        emitted.code.value(broadcast(n, m) * n * m * 4)
    assert not emitted.code.checks
    assert any("fits in 64 bits" in check.text for check in place.checks)
    emitted.code.leave(place)
    emitted.code.value(broadcast(n, m))
    assert [check.text for check in emitted.code.checks] == ["broadcastable(m, n)"]


def test_what_may_fail_is_known_before_it_is_emitted() -> None:
    code = Emitted().code
    assert [dim for dim in (n - 3, n // m, n % (m + 1), n // 4, maximum(n // m, 1), broadcast(n, m), n + m, 2 * n)
            if code.may_fail(dim)] == [n - 3, n // m, maximum(n // m, 1), broadcast(n, m)]  # fmt: skip


def test_many_places_take_no_stack() -> None:
    block = Block(arg_types=[IndexType()] * 5000)
    code = DimCode({"n0": block.args[0]}, Builder(InsertPoint.at_end(block)))
    for number in range(1, 5000):
        code.enter({f"n{number}": block.args[number]}, Builder(InsertPoint.at_end(block)))
    code.extent(symbol("n1") + symbol("n4999"))


@pytest.mark.parametrize(("dim", "message"), [(ANY, "is open"), (symbol("k") + 1, "k is not known here")])
def test_refusals(dim: Dim, message: str) -> None:
    with pytest.raises(LoweringError, match=message):
        Emitted().code.value(dim)


def test_a_value_that_gets_a_name_later_is_used_where_it_was() -> None:
    emitted, inner = Emitted(), Block()
    even = 2 * (n // 2)
    half = emitted.code.value(even)
    place = emitted.code.enter({"k": half}, Builder(InsertPoint.at_end(inner)))
    holds = emitted.code.holds(Equal(n, even))
    assert not list(inner.ops)
    assert holds.owner is emitted.block.last_op
    assert emitted.code.value(symbol("k")) is half
    assert emitted.code.point_of(["k"]) is place
    emitted.code.leave(place)
    assert not emitted.code.is_known("k")
    assert emitted.code.value(even) is half
    with pytest.raises(LoweringError, match="the extent k is not known here"):
        emitted.code.value(symbol("k"))

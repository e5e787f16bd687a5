"""Ops whose shape is an operand: type inference with known elements, and run-time errors."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, i64

from xrelay.dialects.relay.core.facts import Elements, Inference
from xrelay.dialects.relay.core.op_base import INCOMPLETE
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.core.shape_rules import codes_of
from xrelay.dialects.shared.types import shape_of, tensor_type
from xrelay.errors import ConstraintError, InterpreterError
from xrelay.index_algebra.dims import ANY, Dim, Shape, symbol
from xrelay.interpreters.relay import apply_op

n, c = symbol("n"), symbol("c")


def inferred(name: str, shape: Shape, elements: Elements | None, count: int = 2, **properties: object) -> Inference:
    """The inference of the op's rule for data of `shape` and a shape operand with the given elements."""
    kind = get_relay_op(name)
    op = kind.create(result_types=[INCOMPLETE], properties=kind.properties_from(dict(properties)))
    return op.inference([tensor_type(shape, f32), tensor_type((count,), i64)], [None, elements])


@pytest.mark.parametrize(
    ("shape", "elements", "expected"),
    [
        ((2, 6), (3, 4), (3, 4)),
        ((2, 6), (0, -1), (2, 6)),
        ((n, 6), (n, 6), (n, 6)),
        ((n, 6), (-1, 2), (3 * n, 2)),
        ((n, c), (0, c), (n, c)),
    ],
)
def test_reshape_to_known_elements(shape: Shape, elements: Elements, expected: Shape) -> None:
    found = inferred("dyn.reshape", shape, elements)
    assert shape_of(found.type) == expected
    assert not found.requirements


def test_what_a_reshape_takes_for_granted_is_a_requirement() -> None:
    found = inferred("dyn.reshape", (n, 6), (c, -1))
    assert [each.text for each in found.requirements] == ["c >= 1", "(6 * n) mod c == 0"]


@pytest.mark.parametrize(("name", "elements"), [("dyn.reshape", None), ("dyn.full", (ANY, 3))])
def test_elements_that_are_not_known_are_new_extents(name: str, elements: tuple[Dim, ...] | None) -> None:
    assert inferred(name, () if name == "dyn.full" else (4, 3), elements).extents


@pytest.mark.parametrize(
    ("name", "shape", "elements", "constraint"),
    [
        ("dyn.reshape", (2, 6), (-1, -1), "C2"),
        ("dyn.reshape", (2, 6), (-2, 6), "C2"),
        ("dyn.reshape", (4,), (4, 0), "C2"),
        ("dyn.reshape", (2, 6), (5, -1), "C3"),
        ("dyn.reshape", (2, 6), (3, 5), "C3"),
        ("dyn.broadcast_to", (3, 4), (2, 4), "C2"),
        ("dyn.broadcast_to", (3, 1), (3, -4), "C2"),
        ("collapse_sum_to", (3, 4), (2, 4), "C2"),
        ("collapse_sum_to", (3, 4), (0, 4), "C2"),
        ("collapse_sum_to", (4,), (1, 4), "C2"),
        ("dyn.full", (), (3, -4), "C2"),
        ("dyn.tile", (3, 4), (3, -4), "C2"),
    ],
)
def test_elements_that_cannot_be(name: str, shape: Shape, elements: Elements, constraint: str) -> None:
    with pytest.raises(ConstraintError) as refused:
        inferred(name, shape, elements)
    assert str(refused.value).startswith(f"[relay.{name} {constraint}]")


@pytest.mark.parametrize(
    ("extents", "words"), [([5, -1], "cannot be"), ([-1, -1], "illegal"), ([2, 3, 1, 0], "copies no")]
)
def test_the_meaning_refuses_impossible_shapes(extents: list[int], words: str) -> None:
    with pytest.raises(InterpreterError, match=words):
        apply_op("dyn.reshape", np.zeros((2, 3), np.float32), np.array(extents))


@pytest.mark.parametrize(
    ("shape", "result", "codes"),
    [
        ((n, c, 8), (n, 8 * c), (0, -3)),
        ((n, c), (c, n), None),
        ((n, c, 4), (n, 2 * c, 2), (0, -1, 2)),
        ((n, 768), (n, 12, 64), (0, 12, 64)),
        ((n,), (0, n), None),
    ],
)
def test_codes_copy_and_merge_before_they_infer(shape: Shape, result: Shape, codes: tuple[int, ...] | None) -> None:
    assert next(codes_of(shape, result), None) == codes


def test_a_sum_collapses_to_its_own_extents_or_to_ones() -> None:
    found = inferred("collapse_sum_to", (2, n, 4), (n, 1))
    assert shape_of(found.type) == (n, 1)
    assert not found.requirements
    found = inferred("collapse_sum_to", (1, n), (c, 4))
    assert shape_of(found.type) == (1, 4)
    assert [each.text for each in found.requirements] == ["broadcastable(c, 1)", "1 >= c", "c >= 1", "n == 4"]
    assert len(inferred("collapse_sum_to", (n, 3), (ANY, 3)).extents) == 1


def test_known_repetitions_multiply() -> None:
    assert shape_of(inferred("dyn.tile", (n, 3), (2, c)).type) == (2 * n, 3 * c)
    assert shape_of(inferred("dyn.tile", (n,), (2, 3)).type) == (2, 3 * n)
    assert len(inferred("dyn.tile", (n, 3), (ANY, 2)).extents) == 1


@pytest.mark.parametrize(("k", "extent"), [((2,), 2), ((0,), 0), ((c,), c)])
def test_a_known_k_is_the_extent(k: Elements, extent: Dim) -> None:
    found = inferred("dyn.topk", (n, 8), k, count=1, ret_type="values")
    assert shape_of(found.type) == (n, extent)
    assert not found.extents


@pytest.mark.parametrize("k", [-1, 9])
def test_a_k_that_cannot_be(k: int) -> None:
    with pytest.raises(ConstraintError, match=rf"C2\] k is {k}, the axis has 8 elements"):
        inferred("dyn.topk", (n, 8), (k,), count=1)
    with pytest.raises(InterpreterError, match=f"k is {k}, the axis has 8 elements"):
        apply_op("dyn.topk", np.zeros((2, 8), np.float32), np.array([k]))


def test_the_meaning_of_repetitions_and_of_the_first() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(apply_op("dyn.tile", x, np.array([2, 1, 2])), np.tile(x, (2, 1, 2)))
    assert np.array_equal(apply_op("dyn.topk", x, np.array(2), ret_type="indices"), [[2, 1], [2, 1]])
    with pytest.raises(InterpreterError, match="repetitions is negative"):
        apply_op("dyn.tile", x, np.array([2, -1]))


def test_broadcasting_goes_both_ways() -> None:
    assert apply_op("dyn.broadcast_to", np.zeros((3, 1), np.float32), np.array([2, 1, 4])).shape == (2, 3, 4)
    assert apply_op("dyn.full", np.float32(2).reshape(()), np.array([2, 0])).shape == (2, 0)


def padded(shape: Shape, widths: Elements, mode: str) -> Inference:
    """The inference of the rule of `dyn.nn.pad`."""
    kind = get_relay_op("dyn.nn.pad")
    op = kind.create(result_types=[INCOMPLETE], properties=kind.properties_from({"pad_mode": mode}))
    types = [tensor_type(shape, f32), tensor_type((len(shape), 2), i64), tensor_type((), f32)]
    return op.inference(types, [None, widths, None])


def test_widths_that_are_known() -> None:
    found = padded((n, 3, 4), (1, 2, n, 0, ANY, 1), "constant")
    assert shape_of(found.type)[:2] == (n + 3, n + 3)
    assert len(found.extents) == 1
    assert [each.text for each in padded((n,), (0, 2), "reflect").requirements] == ["n >= 3"]


@pytest.mark.parametrize(
    ("shape", "widths", "mode", "constraint"),
    [((4,), (0, -1), "edge", "C2"), ((0,), (0, 1), "edge", "C4"), ((3,), (3, ANY), "reflect", "C4")],
)
def test_padding_that_cannot_be(shape: Shape, widths: Elements, mode: str, constraint: str) -> None:
    with pytest.raises(ConstraintError, match=constraint):
        padded(shape, widths, mode)
    numbers = np.array([[width if isinstance(width, int) else 0 for width in widths]])
    with pytest.raises(InterpreterError, match=constraint):
        apply_op("dyn.nn.pad", np.zeros(shape, np.float32), numbers, np.array(0, np.float32), pad_mode=mode)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_the_meaning_of_padding(mode: str) -> None:
    x, widths = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([[1, 0], [2, 1]])
    found = apply_op("dyn.nn.pad", x, widths, np.array(7, np.float32), pad_mode=mode)
    static = apply_op("nn.pad", x, np.array(7, np.float32), pad_mode=mode, pad_width=(1, 0, 2, 1))
    np.testing.assert_array_equal(found, static)

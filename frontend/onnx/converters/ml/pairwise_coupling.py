"""Class probabilities from pairwise ones, by libsvm's method.

Source: Wu, Lin, Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling" (2004), algorithm 2,
with the limits of onnxruntime: 100 rounds, and an error of 0.005 divided by the number of classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import Array, Iteration, NodeView, emit_loop

ROUNDS = 100
ERROR = 0.005
NEARLY_0 = 1e-7
"""The minimum distance of a pairwise probability from 0 and 1."""


def class_probabilities(node: NodeView, scores: SSAValue, slopes: Array, offsets: Array, classes: int) -> SSAValue:
    """Returns the probability of each class, from scores of pairs of classes, mapped to probabilities by a sigmoid."""
    slope, offset = node.emit_constant(slopes, "prob_a"), node.emit_constant(offsets, "prob_b")
    inverse = node.emit("negative", node.emit("add", node.emit("multiply", scores, slope), offset))
    likely = node.emit("clip", node.emit("sigmoid", inverse), a_min=NEARLY_0, a_max=1 - NEARLY_0)
    rows = _quadratic(node, likely, classes)
    diagonal = [_column(node, row, number) for number, row in enumerate(rows)]
    start = node.emit("multiply", node.emit("zeros_like", rows[0]), node.scalar(0, rows[0]))
    start = node.emit("add", start, node.scalar(1 / classes, start))

    def improve(inner: NodeView, _: SSAValue, carried: Sequence[SSAValue]) -> Iteration:
        return _improved(inner, rows, diagonal, carried[0])

    always = node.emit_constant(np.array(True))
    (found,) = emit_loop(node, node.emit_ints(ROUNDS), always, [start], improve)
    return found


def _quadratic(node: NodeView, likely: SSAValue, classes: int) -> list[SSAValue]:
    """The rows of the matrix Q, whose quadratic form the probabilities minimise, for each sample."""
    unlikely = node.emit("subtract", node.scalar(1, likely), likely)
    against: dict[tuple[int, int], SSAValue] = {}
    for number, (first, second) in enumerate(combinations(range(classes), 2)):
        against[first, second] = _column(node, likely, number)
        against[second, first] = _column(node, unlikely, number)
    rows: list[SSAValue] = []
    for row in range(classes):
        others = [other for other in range(classes) if other != row]
        squares = [node.emit("multiply", against[other, row], against[other, row]) for other in others]
        total = squares[0]
        for square in squares[1:]:
            total = node.emit("add", total, square)
        entries = {row: total}
        for other in others:
            entries[other] = node.emit("negative", node.emit("multiply", against[other, row], against[row, other]))
        rows.append(node.emit("concatenate", node.make_tuple([entries[each] for each in range(classes)]), axis=1))
    return rows


def _improved(node: NodeView, rows: Sequence[SSAValue], diagonal: Sequence[SSAValue], start: SSAValue) -> Iteration:
    """One round, for the samples that have not converged."""

    def times(a: SSAValue, b: SSAValue) -> SSAValue:
        return node.emit("multiply", a, b)

    sums = [node.emit("sum", times(row, start), axis=(1,), keepdims=True) for row in rows]
    products = node.emit("concatenate", node.make_tuple(sums), axis=1)
    form = node.emit("sum", times(start, products), axis=(1,), keepdims=True)
    wrong = node.emit("abs", node.emit("subtract", products, form))
    error = node.emit("max", wrong, axis=(1,), keepdims=True)
    goes_on = node.emit("greater_equal", error, node.scalar(ERROR / len(rows), error))
    found, one, two = start, node.scalar(1, form), node.scalar(2, form)
    for number, (row, own) in enumerate(zip(rows, diagonal, strict=True)):
        product = _column(node, products, number)
        step = node.emit("divide", node.emit("subtract", form, product), own)
        scale = node.emit("add", one, step)
        change = times(step, node.emit("add", times(step, own), times(two, product)))
        form = node.emit("divide", node.emit("divide", node.emit("add", form, change), scale), scale)
        products = node.emit("divide", node.emit("add", products, times(step, row)), scale)
        unit = node.emit_constant(np.eye(len(rows), dtype=np.float32)[number : number + 1])
        found = node.emit("divide", node.emit("add", found, times(step, unit)), scale)
    kept = node.emit("where", goes_on, found, start)
    return Iteration(node.emit("any", goes_on), [kept], [])


def _column(node: NodeView, value: SSAValue, number: int) -> SSAValue:
    return node.emit("strided_slice", value, begin=(number,), end=(number + 1,), strides=(1,), axes=(1,))

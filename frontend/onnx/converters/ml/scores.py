"""Rows of features, post transforms of scores, and class labels, for the models of ai.onnx.ml."""

from __future__ import annotations

from typing import Final

import numpy as np
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, element_type_of

TRANSFORMS: Final = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""The post transforms, numbered as in `TreeEnsemble`."""

SMALLEST: Final = 1e-7
"""SOFTMAX_ZERO treats scores up to this magnitude as 0."""


def rows_of_features(node: NodeView, *, keeps_double: bool = False) -> SSAValue:
    """Returns the first input as an f32 matrix, or f64 if it is f64 and `keeps_double`; a vector is one row."""
    value, rank = node.input(0), len(node.shape(0))
    if rank not in (1, 2):
        raise node.error(f"the input has the type {value.type}; a matrix with a row for each sample is expected")
    matrix = node.emit("expand_dims", value, axis=0) if rank == 1 else value
    element = element_type_of(matrix.type)
    if element == f32 or (keeps_double and element == f64):
        return matrix
    return node.emit("cast", matrix, dtype="float32")


def post_transform(node: NodeView) -> str:
    """Returns the attribute `post_transform`."""
    return node.attribute_string("post_transform", "NONE", TRANSFORMS)


def transformed(node: NodeView, scores: SSAValue, transform: str) -> SSAValue:
    """Returns the scores (one row per sample) after a post transform."""
    match transform:
        case "SOFTMAX":
            return node.emit("nn.softmax", scores, axis=1)
        case "LOGISTIC":
            return node.emit("sigmoid", scores)
        case "SOFTMAX_ZERO":
            return _softmax_zero(node, scores)
        case "PROBIT":
            return probit(node, scores)
        case _:
            return scores


def _softmax_zero(node: NodeView, scores: SSAValue) -> SSAValue:
    """The softmax of non-zero scores; a score of about 0 is only scaled."""
    greatest = node.emit("max", scores, axis=(1,), keepdims=True)
    counts = node.emit("greater", node.emit("abs", scores), node.scalar(SMALLEST, scores))
    powers = node.emit("exp", node.emit("subtract", scores, greatest))
    zeros = node.emit("multiply", scores, node.emit("exp", node.emit("negative", greatest)))
    total = node.emit("sum", node.emit("where", counts, powers, node.scalar(0, scores)), axis=(1,), keepdims=True)
    return node.emit("divide", node.emit("where", counts, powers, zeros), total)


def probit(node: NodeView, scores: SSAValue) -> SSAValue:
    """Returns normal quantiles, by Winitzki's inverse of the error function as in onnxruntime."""

    def number(value: float) -> SSAValue:
        return node.scalar(value, scores)

    x = node.emit("subtract", node.emit("multiply", scores, number(2)), number(1))
    product = node.emit("multiply", node.emit("subtract", number(1), x), node.emit("add", number(1), x))
    log = node.emit("log", product)
    scale = float(np.float32(3.14159) * np.float32(0.147))
    middle = node.emit("add", node.emit("multiply", log, number(0.5)), number(2 / scale))
    rest = node.emit("multiply", log, number(1 / 0.147))
    root = node.emit("sqrt", node.emit("subtract", node.emit("multiply", middle, middle), rest))
    size = node.emit("sqrt", node.emit("subtract", root, middle))
    sign = node.emit("where", node.emit("less", x, number(0)), number(-(2**0.5)), number(2**0.5))
    return node.emit("multiply", sign, size)


def class_labels(node: NodeView, ints: str, strings: str) -> list[int]:
    """Returns the labels of the classes; for string labels their indices, or an error if the label output is used."""
    texts, numbers = node.attribute_strings(strings), node.attribute_ints(ints)
    if texts and not numbers:
        if node.outputs[0]:
            raise node.unsupported(
                f"labels of classes are strings ({texts[0]!r}, …), tensors contain numbers; train on class numbers, "
                f"or remove the output {node.outputs[0]!r} and take the largest score of each row"
            )
        return list(range(len(texts)))
    if not numbers:
        raise node.error(f"neither {ints!r} nor {strings!r} lists the classes")
    return list(numbers)


def chosen_labels(node: NodeView, classes: SSAValue, labels: list[int]) -> SSAValue:
    """Returns the label of each sample's class, given by index."""
    table = node.emit_constant(np.array(labels, np.int64), "labels")
    return node.emit("take", table, classes, axis=0, mode="clip")


def best_labels(node: NodeView, scores: SSAValue, labels: list[int]) -> SSAValue:
    """Returns the label of each sample's greatest score, the first of equal ones."""
    return chosen_labels(node, node.emit("argmax", scores, axis=(1,)), labels)


def labels_above(node: NodeView, scores: SSAValue, bound: float, labels: list[int]) -> SSAValue:
    """Returns the second label for samples whose only score is greater than `bound`, else the first."""
    is_second = node.emit("greater", node.emit("squeeze", scores, axis=(1,)), node.scalar(bound, scores))
    return chosen_labels(node, node.emit("cast", is_second, dtype="int64"), labels)


def columns(node: NodeView, *scores: SSAValue) -> SSAValue:
    """Returns matrices concatenated along axis 1."""
    return node.emit("concatenate", node.make_tuple(scores), axis=1)


def as_f32(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value` in f32."""
    return value if element_type_of(value.type) == f32 else node.emit("cast", value, dtype="float32")

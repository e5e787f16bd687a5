"""Quantisation: how an operator computes with integers that represent its numbers."""

from __future__ import annotations

from enum import Enum


class Quantization(Enum):
    """How an operator computes with integers, where an integer q represents `scale * (q - zero_point)`.

    `relay-quantize-annotate` rounds operands to 8 bits accordingly, and `relay-fake-quantization-to-integer` derives
    the integer form of movements and choices from it.
    """

    PRODUCT = "sums of 32 bits of 8-bit products: convolutions and matrix products"
    MOVEMENT = "elements of the first operand in other positions: the op itself, for any scale"
    CHOICE = "elements of the first operand, chosen by their order: the op itself, for positive scales"
    BOUND = "elements between two numbers, for which integers of the same scale are found"
    MEAN = "weighted sums of elements, which need 32 bits"
    JOIN = "sums, extrema or concatenations of tensors, which need a common scale"
    SCALING = "products and quotients of two tensors, whose scales are multiplied or divided"

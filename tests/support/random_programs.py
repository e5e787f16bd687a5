"""Random graphs of operators, from a seed: convolutions beside reductions, joined, split and laid out anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from xrelay import relay

T = TypeVar("T")
Step = Callable[["Programs", relay.Expr], relay.Expr | None]
MOST_ELEMENTS = 6000
"""Of a tensor; the interpreter of the loop level has to see every element."""


class Programs:
    """Makes graphs; `rng` decides everything."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.values: list[relay.Expr] = []

    def program(self, length: int) -> relay.Expr:
        """A graph of at most `length` steps; its results are the last values, and sometimes others."""
        shape = tuple(int(self.rng.choice(extents)) for extents in ((1, 2), (3, 8, 16, 24, 32), (1, 5, 8), (4, 7)))
        self.values = [relay.var("x", shape=shape)]
        for _ in range(length):
            step = self.pick(STEPS)
            value = step(self, self.values[self._recent()])
            if value is not None and 0 < np.prod(self.shape(value)) <= MOST_ELEMENTS:
                self.values.append(value)
        results = [self.values[-1]]
        if self.rng.random() < 0.3:
            results.append(self.pick(self.values))
        return results[0] if len(results) == 1 else relay.Tuple(results)

    def pick(self, items: Sequence[T]) -> T:
        """One of several things."""
        return items[int(self.rng.integers(len(items)))]

    def _recent(self) -> int:
        """Mostly one of the last values, so that graphs are deep, and sometimes any."""
        last = len(self.values) - 1
        return last if self.rng.random() < 0.7 else int(self.rng.integers(last + 1))

    def other(self, shape: tuple[int, ...]) -> relay.Expr:
        """A value of this shape made before, or a constant that broadcasts to it."""
        known = [value for value in self.values if self.shape(value) == shape]
        if known and self.rng.random() < 0.6:
            return self.pick(known)
        axes = tuple(extent if self.rng.random() < 0.6 else 1 for extent in shape)
        return relay.const(self.weight(axes[int(self.rng.integers(len(axes) + 1)) :]))

    def weight(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return (self.rng.standard_normal(shape) * 0.5).astype(np.float32)

    @staticmethod
    def shape(value: relay.Expr) -> tuple[int, ...]:
        return tuple(int(str(extent)) for extent in value.shape)


def unary(p: Programs, x: relay.Expr) -> relay.Expr:
    return p.pick([relay.nn.relu, relay.sigmoid, relay.tanh, relay.negative, relay.nn.dropout])(x)


def clip(p: Programs, x: relay.Expr) -> relay.Expr:
    return relay.clip(x, a_min=-0.5, a_max=1.0)


def binary(p: Programs, x: relay.Expr) -> relay.Expr:
    op = p.pick([relay.add, relay.subtract, relay.multiply, relay.maximum, relay.minimum])
    operands = [x, p.other(p.shape(x))]
    return op(*(operands if p.rng.random() < 0.5 else operands[::-1]))


def conv2d(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if len(shape) != 4 or shape[2] < 3 or shape[3] < 3:
        return None
    size, channels = p.pick([1, 3, (3, 1), (1, 3)]), shape[1]
    height, width = (size, size) if isinstance(size, int) else size
    groups = p.pick([1, 1, 1, channels, 2 if channels % 2 == 0 else 1])
    out = groups * p.pick([1, 2, 8 // groups or 1, 16 // groups or 1, 24 // groups or 1])
    weight = p.weight((out, channels // groups, height, width))
    stride = p.pick([(1, 1), (1, 1), (2, 2), (1, 2)])
    padding = p.pick([(0, 0), (height // 2, width // 2), (1, 0, 2, 1)])
    return relay.nn.conv2d(x, weight, strides=stride, padding=padding, groups=groups)


def batch_norm(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if len(shape) != 4:
        return None
    gamma, beta, mean = (p.weight((shape[1],)) for _ in range(3))
    return relay.nn.batch_norm(x, gamma, beta, mean, np.abs(p.weight((shape[1],))) + 0.5)[0]


def bias_add(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    return relay.nn.bias_add(x, p.weight((shape[1],)), axis=1) if len(shape) > 1 else None


def pool(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if len(shape) != 4 or min(shape[2:]) < 3:
        return None
    size = p.pick([(2, 2), (3, 3), (3, 2)])
    strides, padding = p.pick([(1, 1), (2, 2)]), p.pick([(0, 0), (1, 1)])
    if p.rng.random() < 0.5:
        return relay.nn.max_pool2d(x, pool_size=size, strides=strides, padding=padding, ceil_mode=p.rng.random() < 0.3)
    counts = bool(p.rng.random() < 0.5)
    return relay.nn.avg_pool2d(x, pool_size=size, strides=strides, padding=padding, count_include_pad=counts)


def global_pool(p: Programs, x: relay.Expr) -> relay.Expr | None:
    return relay.nn.global_avg_pool2d(x) if len(p.shape(x)) == 4 and p.rng.random() < 0.3 else None


def concatenate(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    axis = int(p.rng.integers(len(shape))) if shape else None
    if axis is None:
        return None
    joins = [
        value
        for value in p.values
        if len(p.shape(value)) == len(shape)
        and all(a == b for i, (a, b) in enumerate(zip(p.shape(value), shape, strict=True)) if i != axis)
    ]
    return relay.concatenate([x, *(p.pick(joins) for _ in range(int(p.rng.integers(1, 3))))], axis=axis)


def split(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    axes = [axis for axis, extent in enumerate(shape) if extent > 1]
    if not axes:
        return None
    axis = p.pick(axes)
    cut = int(p.rng.integers(1, shape[axis]))
    return relay.split(x, indices_or_sections=(cut,), axis=axis)[int(p.rng.integers(2))]


def transpose(p: Programs, x: relay.Expr) -> relay.Expr:
    return relay.transpose(x, axes=tuple(int(axis) for axis in p.rng.permutation(len(p.shape(x)))))


def reshape(p: Programs, x: relay.Expr) -> relay.Expr:
    shape = p.shape(x)
    if len(shape) > 1 and p.rng.random() < 0.5:
        return relay.nn.batch_flatten(x)
    return relay.reshape(x, newshape=(*shape[: len(shape) // 2], -1))


def layout(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if len(shape) != 4:
        return None
    block = p.pick([b for b in (1, 2, 4, 8) if shape[1] % b == 0])
    there = relay.layout_transform(x, src_layout="NCHW", dst_layout=f"NCHW{block}c")
    return relay.layout_transform(relay.nn.relu(there), src_layout=f"NCHW{block}c", dst_layout=p.pick(["NCHW", "NHWC"]))


def reduction(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if not shape or p.rng.random() < 0.5:
        return None
    axes = tuple(sorted({int(axis) for axis in p.rng.integers(len(shape), size=2)}))
    return p.pick([relay.mean, relay.max, relay.sum])(x, axis=axes, keepdims=bool(p.rng.random() < 0.7))


def softmax(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    return relay.nn.softmax(x, axis=int(p.rng.integers(len(shape)))) if shape else None


def dense(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if len(shape) != 2 or shape[1] > 600:
        return None
    return relay.nn.dense(x, p.weight((p.pick([1, 5, 16, 33]), shape[1])))


def pad(p: Programs, x: relay.Expr) -> relay.Expr | None:
    shape = p.shape(x)
    if p.rng.random() < 0.5 or not shape:
        return None
    widths = [(int(a), int(b)) for a, b in p.rng.integers(0, 3, (len(shape), 2))]
    return relay.nn.pad(x, widths, 0.5)


STEPS: list[Step] = [
    unary,
    unary,
    clip,
    binary,
    binary,
    binary,
    conv2d,
    conv2d,
    conv2d,
    batch_norm,
    bias_add,
    pool,
    global_pool,
    concatenate,
    split,
    transpose,
    reshape,
    layout,
    reduction,
    softmax,
    dense,
    pad,
]

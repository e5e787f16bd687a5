"""Random numbers from keys: `relay.random.threefry_generate` and related ops.

A key is ten 64-bit words: a Threefry key (four words), a path (two words), a counter (two words; only the second
counts), and the position of the next step of the path, one bit in two words. Every draw returns a new key with its
numbers, so programs are deterministic. Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011);
Claessen and Pałka, "Splittable pseudorandom number generators using cryptographic hashing" (2013).
"""

from __future__ import annotations

from math import pi

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, TupleType, f32, f64, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    Body,
    Dim,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    int_property,
    ints,
    no_gradients,
    numpy_dtype,
    register_relay_op,
    required_ints_property,
    tensor_type,
)

WORD = IntegerType(64, Signedness.UNSIGNED)
WORDS = 10
KEY = tensor_type((WORDS,), WORD)
"""The type of a key."""


def key_words(seed: int) -> list[int]:
    """Returns the words of the key for a seed of up to 256 bits, with an empty path and a counter of 0."""
    words = [seed >> 64 * place & (1 << 64) - 1 for place in range(4)]
    return [*words, 0, 0, 0, 0, 1 << 63, 0]


class KeyedOp(RelayOp):
    """Base of the ops with a key as first operand.

    Constraints shared by all:
    - C1: the key is ten words: `tensor<10xui64>`.
    """

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER

    key = operand_def()

    def require_key(self, facts: Facts) -> None:
        """Checks the type of the key (C1)."""
        facts.require(facts[0] == KEY, "C1", lambda: f"a key is {KEY}, found {facts[0]}")

    def drawn(self, facts: Facts, shape: tuple[Dim, ...], element: Attribute) -> Attribute:
        """Returns the tuple type of a new key and the drawn tensor."""
        self.require_key(facts)
        return TupleType((KEY, tensor_type(shape, element)))


@register_relay_op
class ThreefryGenerateOp(KeyedOp):
    """A new key and words of `out_shape`, where each block of four is a hash of key, path and counter.

    The hash is Threefry with four words and twenty rounds, with the key added before every fourth round, as in Relay.
    Block b adds b to each word of path and counter. A last block of fewer than four words adds the number of preceding
    words instead. The counter of the new key increases by the number of words, rounded up to a multiple of four. If the
    counter would overflow, a step is added to the path. If the path is full, the key is hashed with the path and a
    counter of ones, and path and counter are reset.

    Constraints:
    - C1: the key is ten words: `tensor<10xui64>`.

    Example:
    ```mlir
    %t = relay.random.threefry_generate(%k) {out_shape = [2, 3]}
        : (tensor<10xui64>) -> tuple<tensor<10xui64>, tensor<2x3xui64>>
    ```

    """

    name = "relay.random.threefry_generate"
    CONSTRAINTS = {"C2": AtLeast("out_shape", 0)}

    key = operand_def()

    out_shape = required_ints_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of a key and words; checks C1."""
        return self.drawn(facts, ints(self.out_shape), WORD)

    def evaluate(self, key: Array) -> tuple[Array, Array]:
        """Hashes block by block."""
        from xrelay.dialects.relay.meaning.threefry import drawn_words

        return drawn_words(key, ints(self.out_shape))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads each word from its block."""
        from xrelay.dialects.relay.computes.threefry import Draw

        shape = ints(self.out_shape)
        draw = Draw(build, shape)
        words = build.compute("words", shape, WORD, lambda b: draw.word(b, b.spatial))
        return [draw.new_key(), words]

    gradient = no_gradients


@register_relay_op
class ThreefrySplitOp(KeyedOp):
    """Two keys with independent random numbers: their paths are extended by 0 and 1.

    Constraints:
    - C1: the key is ten words: `tensor<10xui64>`.

    Example:
    ```mlir
    %t = relay.random.threefry_split(%k) : (tensor<10xui64>) -> tuple<tensor<10xui64>, tensor<10xui64>>
    ```

    """

    name = "relay.random.threefry_split"

    key = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of two keys; checks C1."""
        self.require_key(facts)
        return TupleType((KEY, KEY))

    def evaluate(self, key: Array) -> tuple[Array, Array]:
        """Extends the path by either bit, or resets a full path."""
        from xrelay.dialects.relay.meaning.threefry import split_key

        return split_key(key)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds a compute for each key."""
        from xrelay.dialects.relay.computes.threefry import read_key, split

        key = build.operand(0)

        def side(number: int) -> SSAValue:
            def word(b: Body) -> SSAValue:
                return b.choose(b.spatial[0], split(b, read_key(b, key))[number])

            return build.compute("split_key", {"i": WORDS}, WORD, word)

        return [side(0), side(1)]

    gradient = no_gradients


class DistributionOp(KeyedOp):
    """Base of the float distributions, with two scalar parameters.

    Constraints shared by both:
    - C2: `out_shape` has no extent below 0.
    - C3: `out_dtype` is f32 or f64, and the parameters are scalars of it.
    """

    CONSTRAINTS = {"C2": AtLeast("out_shape", 0)}

    out_shape = required_ints_property()
    out_dtype = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of a key and floats; checks C1 and C3."""
        element = self.element_type_property(self.out_dtype, f32, "C3")
        wanted = tensor_type((), element)
        legal = element in (f32, f64) and facts[1] == facts[2] == wanted
        facts.require(legal, "C3", lambda: f"numbers of {element} with parameters {facts[1]} and {facts[2]}")
        return self.drawn(facts, ints(self.out_shape), element)

    def total(self, value: SSAValue, parameter: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the sum of all elements in the element type of a parameter."""
        return build.cast_like(build.op("sum", value), parameter)


@register_relay_op
class UniformOp(DistributionOp):
    """A new key and floats with a uniform distribution in [`low`, `high`).

    The first 23 bits of the words of `random.threefry_generate`, or the first 52 for f64, are a fraction u. The result
    is `u * (high - low) + low`.

    Constraints:
    - C1: the key is ten words: `tensor<10xui64>`.
    - C3: `out_dtype` is f32 or f64, and the bounds are scalars of it.

    Example:
    ```mlir
    %t = relay.random.uniform(%k, %low, %high) {out_shape = [2, 3], out_dtype = f32}
        : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<2x3xf32>>
    ```

    """

    name = "relay.random.uniform"

    key = operand_def()
    low = operand_def()
    high = operand_def()

    out_shape = required_ints_property()
    out_dtype = prop_def()

    def evaluate(self, key: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Scales fractions to the interval."""
        from xrelay.dialects.relay.meaning.threefry import drawn_fractions

        new, values = drawn_fractions(key, ints(self.out_shape), numpy_dtype(self.out_dtype))
        return new, values * (high - low) + low

    def compute(self, build: TopiBuilder) -> Tensors:
        """Scales fractions to the interval."""
        from xrelay.dialects.relay.computes.threefry import Draw

        shape, (low, high) = ints(self.out_shape), (build.operand(1), build.operand(2))
        draw, element = Draw(build, shape), build.element(low)

        def fill(b: Body) -> SSAValue:
            first = b.read(low)
            return b.plus(b.times(draw.fraction(b, b.spatial, element), b.minus(b.read(high), first)), first)

        return [draw.new_key(), build.compute("uniform", shape, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Sums the gradient for both bounds, weighted by the position of the numbers between them; None for the key."""
        values, given = build.item(self.result, 1), build.item(of, 1)
        low, high = (build.cast_like(bound, values) for bound in (self.low, self.high))
        part = build.op("divide", build.op("subtract", values, low), build.op("subtract", high, low))
        of_high = build.op("multiply", given, part)
        of_low = build.op("subtract", given, of_high)
        return [None, self.total(of_low, self.low, build), self.total(of_high, self.high, build)]


@register_relay_op
class NormalOp(DistributionOp):
    """A new key and floats with a normal distribution of mean `mean` and standard deviation `scale`.

    With u and v from uniform numbers of shape (2, `out_shape`) in [0, 1), the result is `sqrt(-2 * log(1 - u)) * sin(2
    * pi * v) * scale + mean` (Box and Muller).

    Constraints:
    - C1: the key is ten words: `tensor<10xui64>`.
    - C3: `out_dtype` is f32 or f64, and mean and scale are scalars of it.

    Example:
    ```mlir
    %t = relay.random.normal(%k, %mean, %scale) {out_shape = [2, 3], out_dtype = f32}
        : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> tuple<tensor<10xui64>, tensor<2x3xf32>>
    ```

    """

    name = "relay.random.normal"

    key = operand_def()
    mean = operand_def()
    scale = operand_def()

    out_shape = required_ints_property()
    out_dtype = prop_def()

    def evaluate(self, key: Array, mean: Array, scale: Array) -> tuple[Array, Array]:
        """Computes a radius and an angle from each pair of fractions, in double precision."""
        from xrelay.dialects.relay.meaning.threefry import drawn_fractions

        new, (u, v) = drawn_fractions(key, (2, *ints(self.out_shape)), numpy_dtype(self.out_dtype))
        wide = np.sqrt(-2 * np.log(1 - u.astype(np.float64))) * np.sin(2 * np.pi * v.astype(np.float64))
        return new, np.asarray(wide * scale.astype(np.float64) + mean.astype(np.float64)).astype(u.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes a radius and an angle from each pair of fractions."""
        from xdsl.dialects import math

        from xrelay.dialects.relay.computes.threefry import Draw

        shape, (mean, scale) = ints(self.out_shape), (build.operand(1), build.operand(2))
        draw, element = Draw(build, (2, *shape)), build.element(mean)

        def fill(b: Body) -> SSAValue:
            u, v = (draw.fraction(b, (b.expr(half), *b.spatial), element) for half in (0, 1))
            rest = b.minus(1, u)
            radius = b.sqrt(b.times(b.constant(-2, element), b.log(rest)))
            height = b.add(math.SinOp(b.times(2 * pi, v)))
            return b.plus(b.times(b.times(radius, height), b.read(scale)), b.read(mean))

        return [draw.new_key(), build.compute("normal", shape, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Sums the gradient for the mean, and its products with the normalised numbers for the scale."""
        values, given = build.item(self.result, 1), build.item(of, 1)
        mean, scale = (build.cast_like(each, values) for each in (self.mean, self.scale))
        standard = build.op("divide", build.op("subtract", values, mean), scale)
        of_scale = build.op("multiply", given, standard)
        return [None, self.total(given, self.mean, build), self.total(of_scale, self.scale, build)]


@register_relay_op
class MultinomialOp(KeyedOp):
    """A new key and `num_samples` random classes for each row of probabilities, whose sum need not be 1.

    Negative probabilities count as 0. With uniform f32 numbers u in [0, 1), the class is the first for which the
    cumulative sum of the probabilities, in f32, is greater than u times their sum, or else the last class.

    Constraints:
    - C1: the key is ten words: `tensor<10xui64>`.
    - C4: the probabilities have known extents and at least one class.

    Example:
    ```mlir
    %t = relay.random.multinomial(%k, %p) {num_samples = 5}
        : (tensor<10xui64>, tensor<2x3xf32>) -> tuple<tensor<10xui64>, tensor<2x5xi32>>
    ```

    """

    name = "relay.random.multinomial"
    CONSTRAINTS = {"C2": AtLeast("num_samples", 0), "C3": RankOf(1, 1), "C5": FloatElements(1)}

    key = operand_def()
    probs = operand_def()

    num_samples = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of a key and classes; checks C1 and C4."""
        shape = facts.shape(1)
        known = [extent for extent in shape if isinstance(extent, int)]
        legal = len(known) == len(shape) and known[-1] > 0
        facts.require(legal, "C4", lambda: f"probabilities {facts[1]} have unknown extents, or no class")
        return self.drawn(facts, (*shape[:-1], self.num_samples.value.data), i32)

    def evaluate(self, key: Array, probs: Array) -> tuple[Array, Array]:
        """Finds the first class whose cumulative sum is greater than the random limit."""
        from xrelay.dialects.relay.meaning.threefry import drawn_fractions

        shape = (*probs.shape[:-1], self.num_samples.value.data)
        new, fractions = drawn_fractions(key, shape, np.dtype(np.float32))
        rows = probs.astype(np.float32)
        sums = np.cumsum(np.where(rows > 0, rows, np.float32(0)), -1, dtype=np.float32)
        limits = fractions * sums[..., -1:]
        classes = (~(sums[..., None] > limits[..., None, :])).sum(-2)
        return new, np.minimum(classes, probs.shape[-1] - 1).astype(np.int32)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds cumulative sums, and counts those that are not greater than the random limit."""
        from xrelay.dialects.relay.computes.threefry import Draw
        from xrelay.dialects.topi.build import scan, variables

        probs = build.operand(1)
        *rows, classes = build.known(probs, "probabilities")
        shape, last = (*rows, self.num_samples.value.data), classes - 1
        draw = Draw(build, shape)

        def add(b: Body) -> list[SSAValue]:
            value, zero = b.convert(b.read(probs, *b.spatial), f32), b.constant(0, f32)
            is_some = b.compare(value, "gt", zero)
            return [b.plus(b.accumulators[0], b.select(is_some, value, zero))]

        spatial = variables("i", (*rows, classes))
        sums = build.insert(scan("sums", spatial, len(rows), [f32], add, [0.0])).results[0]

        def limit(b: Body) -> SSAValue:
            total = b.read(sums, *b.spatial[:-1], last)
            return b.times(draw.fraction(b, b.spatial, f32), total)

        limits = build.compute("limits", shape, f32, limit)

        def count(b: Body) -> SSAValue:
            is_greater = b.compare(b.read(sums, *b.spatial[:-1], b.reduction[0]), "gt", b.read(limits, *b.spatial))
            one, zero = b.constant(1, i32), b.constant(0, i32)
            return b.plus(b.accumulators[0], b.select(is_greater, zero, one))

        counts = build.compute("counts", shape, i32, count, reduce={"k": classes}, init=[0])

        def found(b: Body) -> SSAValue:
            return b.minimum(b.read(counts, *b.spatial), last)

        return [draw.new_key(), build.compute("multinomial", shape, i32, found)]

    gradient = no_gradients

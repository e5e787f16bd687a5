"""Random numbers from keys: the key for a draw, blocks of four words, and distributions."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float64Type, IndexType, f32, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.scalars import chosen
from xrelay.dialects.relay.ops.random import (
    WORD,
    WORDS,
    MultinomialOp,
    NormalOp,
    ThreefryGenerateOp,
    ThreefrySplitOp,
    UniformOp,
    blocks,
)
from xrelay.dialects.topi.build import Body, compute, scan, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, IndexCastOp, SelectOp
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.threefry import hashed, split, with_room


def _key(b: Body, key: SSAValue) -> list[SSAValue]:
    """Reads the words of a key."""
    return [b.read(key, place) for place in range(WORDS)]


@implements(ThreefrySplitOp, "random.threefry_split.generic")
def build_threefry_split(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits two keys."""
    key = emitter.operand(0)

    def side(number: int) -> SSAValue:
        return emitter.compute(
            "split_key", {"i": WORDS}, WORD, lambda b: chosen(b, b.spatial[0], split(b, _key(b, key))[number])
        )

    return [side(0), side(1)]


class _Draw:
    """The random words for a shape."""

    def __init__(self, emitter: TopiBuilder, shape: tuple[int, ...]):
        self.shape, (self._count, self._moved), key = shape, blocks(shape), emitter.operand(0)
        self._state = emitter.compute(
            "key_with_room",
            {"i": WORDS},
            WORD,
            lambda b: chosen(b, b.spatial[0], with_room(b, _key(b, key), self._count)),
        )
        self._emitter = emitter
        number = {"b": -(-self._count // 4)}
        self._blocks = emitter.insert(compute("random_blocks", number, [WORD] * 4, self._block)).results

    def _block(self, b: Body) -> list[SSAValue]:
        """Returns the four words of a block."""
        key, whole = _key(b, self._state), self._count // 4
        number = b.index(b.spatial[0])
        step = convert_index(b, number)
        if self._count % 4:
            is_whole = b.add(CmpiOp(number, b.constant(whole, IndexType()), "slt"))
            step = b.add(SelectOp(is_whole, step, b.constant(4 * whole, WORD)))
        return hashed(b, key[:4], [b.plus(word, step) for word in key[4:8]])

    def word(self, b: Body, at: Sequence[AffineExpr]) -> SSAValue:
        """Returns the word at a point of the shape."""
        place = b.expr(0)
        for index, extent in zip(at, self.shape, strict=True):
            place = place * extent + index
        return chosen(b, place % 4, [b.read(words, place // 4) for words in self._blocks])

    def fraction(self, b: Body, at: Sequence[AffineExpr], element: Attribute) -> SSAValue:
        """Returns a float in [0, 1) from the word at a point."""
        bits = 52 if isinstance(element, Float64Type) else 23
        first = b.add(arith.ShRUIOp(self.word(b, at), b.constant(64 - bits, WORD)))
        return b.divide(convert_scalar(b, first, element), b.constant(1 << bits, element))

    def new_key(self) -> SSAValue:
        """Returns the new key, whose counter follows the draw."""

        def word(b: Body) -> SSAValue:
            words = _key(b, self._state)
            words[6] = b.constant(0, WORD)
            words[7] = b.plus(words[7], b.constant(self._moved, WORD))
            return chosen(b, b.spatial[0], words)

        return self._emitter.compute("new_key", {"i": WORDS}, WORD, word)


def convert_index(b: Body, index: SSAValue) -> SSAValue:
    """Casts an index to a word."""
    return b.add(IndexCastOp(index, WORD))


@implements(ThreefryGenerateOp, "random.threefry_generate.generic")
def build_threefry_generate(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits random words."""
    draw = _Draw(emitter, emitter.ints("out_shape"))
    words = emitter.compute("words", variables("i", draw.shape), WORD, lambda b: draw.word(b, b.spatial))
    return [draw.new_key(), words]


@implements(UniformOp, "random.uniform.generic")
def build_uniform(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Scales fractions to the interval."""
    draw, (low, high) = _Draw(emitter, emitter.ints("out_shape")), (emitter.operand(1), emitter.operand(2))
    element = element_of(low)

    def fill(b: Body) -> SSAValue:
        first = b.read(low)
        return b.plus(b.times(draw.fraction(b, b.spatial, element), b.minus(b.read(high), first)), first)

    return [draw.new_key(), emitter.compute("uniform", variables("i", draw.shape), element, fill)]


@implements(NormalOp, "random.normal.generic")
def build_normal(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes a radius and an angle from each pair of fractions."""
    shape, (mean, scale) = emitter.ints("out_shape"), (emitter.operand(1), emitter.operand(2))
    draw, element = _Draw(emitter, (2, *shape)), element_of(mean)

    def fill(b: Body) -> SSAValue:
        u, v = (draw.fraction(b, (b.expr(half), *b.spatial), element) for half in (0, 1))
        rest = b.minus(b.constant(1, element), u)
        radius = b.add(math.SqrtOp(b.times(b.constant(-2, element), b.add(math.LogOp(rest)))))
        height = b.add(math.SinOp(b.times(b.constant(2 * pi, element), v)))
        return b.plus(b.times(b.times(radius, height), b.read(scale)), b.read(mean))

    return [draw.new_key(), emitter.compute("normal", variables("i", shape), element, fill)]


@implements(MultinomialOp, "random.multinomial.generic")
def build_multinomial(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits cumulative sums, and counts those that are not greater than the random limit."""
    probs = emitter.operand(1)
    *rows, classes = emitter.known(probs, "probabilities")
    draw = _Draw(emitter, (*rows, emitter.integer("num_samples")))

    def add(b: Body) -> list[SSAValue]:
        value, zero = convert_scalar(b, b.read(probs, *b.spatial), f32), b.constant(0, f32)
        is_some = b.add(CmpfOp(value, zero, "ogt"))
        return [b.plus(b.accumulators[0], b.add(SelectOp(is_some, value, zero)))]

    sums = emitter.insert(scan("sums", variables("i", shape_of(probs)), len(rows), [f32], add, [0.0])).results[0]

    def limit(b: Body) -> SSAValue:
        total = b.read(sums, *b.spatial[:-1], classes - 1)
        return b.times(draw.fraction(b, b.spatial, f32), total)

    limits = emitter.compute("limits", variables("i", draw.shape), f32, limit)

    def count(b: Body) -> SSAValue:
        is_greater = b.add(CmpfOp(b.read(sums, *b.spatial[:-1], b.reduction[0]), b.read(limits, *b.spatial), "ogt"))
        one, zero = b.constant(1, i32), b.constant(0, i32)
        return b.plus(b.accumulators[0], b.add(SelectOp(is_greater, zero, one)))

    names = variables("i", draw.shape)
    counts = emitter.compute("counts", names, i32, count, reduce={"k": classes}, init=[0])
    last = classes - 1
    found = emitter.compute(
        "multinomial", names, i32, lambda b: b.minimum(b.read(counts, *b.spatial), b.constant(last, i32))
    )
    return [draw.new_key(), found]

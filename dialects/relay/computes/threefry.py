"""Threefry with four 64-bit words, random keys and draws, as scalar ops and index spaces."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float64Type, IntegerType, Signedness
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.scalars import row_major
from xrelay.dialects.shared.numerics import ONES, PARITY, ROTATIONS
from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp

Words = Sequence[SSAValue]

WORD: Final = IntegerType(64, Signedness.UNSIGNED)
WORDS: Final = 10
"""The number of words of a key."""


class Draw:
    """The random words for a shape, drawn with the key that is the first operand."""

    def __init__(self, build: TopiBuilder, shape: tuple[int, ...]):
        self._build, self._shape, self._count = build, shape, prod(shape)
        key = build.operand(0)

        def room(b: Body) -> SSAValue:
            return b.choose(b.spatial[0], with_room(b, read_key(b, key), self._count))

        self._state = build.compute("key_with_room", {"i": WORDS}, WORD, room)
        number = {"b": -(-self._count // 4)}
        self._blocks = build.insert(compute("random_blocks", number, [WORD] * 4, self._block)).results

    def _block(self, b: Body) -> list[SSAValue]:
        """Returns the four words of a block."""
        key, whole = read_key(b, self._state), self._count // 4
        number = b.index(b.spatial[0])
        step = b.add(IndexCastOp(number, WORD))
        if self._count % 4:
            is_whole = b.compare(number, "lt", whole)
            step = b.select(is_whole, step, 4 * whole)
        return hash_counter(b, key[:4], [b.plus(word, step) for word in key[4:8]])

    def word(self, b: Body, at: Sequence[AffineExpr]) -> SSAValue:
        """Returns the word at a point of the shape."""
        place = row_major(b, at, self._shape)
        return b.choose(place % 4, [b.read(words, place // 4) for words in self._blocks])

    def fraction(self, b: Body, at: Sequence[AffineExpr], element: Attribute) -> SSAValue:
        """Returns a float in [0, 1) from the word at a point."""
        bits = 52 if isinstance(element, Float64Type) else 23
        first = b.add(arith.ShRUIOp(self.word(b, at), b.constant(64 - bits, WORD)))
        return b.divide(b.convert(first, element), 1 << bits)

    def new_key(self) -> SSAValue:
        """Returns the new key, whose counter follows the draw."""
        moved = -(-self._count // 4) * 4

        def word(b: Body) -> SSAValue:
            words = read_key(b, self._state)
            words[6] = b.constant(0, WORD)
            words[7] = b.plus(words[7], moved)
            return b.choose(b.spatial[0], words)

        return self._build.compute("new_key", {"i": WORDS}, WORD, word)


def read_key(b: Body, key: SSAValue) -> list[SSAValue]:
    """Reads the words of a key."""
    return [b.read(key, place) for place in range(WORDS)]


def hash_counter(b: Body, key: Words, counter: Words) -> list[SSAValue]:
    """Returns the hash of the four words `counter` with `key`."""
    parity = b.constant(PARITY, WORD)
    for word in key:
        parity = b.logical_xor(parity, word)
    keys, words = [*key, parity], list(counter)
    for turn in range(20):
        if turn % 4 == 0:
            step = turn // 4
            words = [b.plus(word, keys[(step + place) % 5]) for place, word in enumerate(words)]
            words[3] = b.plus(words[3], step)
        for place, count in zip((0, 2), ROTATIONS[turn % 8], strict=True):
            words[place : place + 2] = _mixed(b, words[place], words[place + 1], count)
        words[1], words[3] = words[3], words[1]
    return words


def _mixed(b: Body, first: SSAValue, second: SSAValue, count: int) -> tuple[SSAValue, SSAValue]:
    """Returns the sum of two words, and its exclusive or with the rotated second word."""
    total = b.plus(first, second)
    left = b.add(arith.ShLIOp(second, b.constant(count, WORD)))
    right = b.add(arith.ShRUIOp(second, b.constant(64 - count, WORD)))
    return total, b.logical_xor(total, b.logical_or(left, right))


def split(b: Body, key: Words) -> tuple[list[SSAValue], list[SSAValue]]:
    """Returns the two keys of a split."""
    zero, next_place = b.constant(0, WORD), [b.constant(1 << 62, WORD), b.constant(0, WORD)]
    new = hash_counter(b, key[:4], key[4:8])
    begun = [*new, zero, zero, zero, zero, *next_place]
    begun_right = [*new, b.constant(1 << 63, WORD), zero, zero, zero, *next_place]
    place = _shifted(b, key)
    left, right = [*key[:8], *place], [*key[:4], *_stepped(b, key), *key[6:8], *place]
    is_full = _is_full(b, key)
    return _either(b, is_full, begun, left), _either(b, is_full, begun_right, right)


def with_room(b: Body, key: Words, count: int) -> list[SSAValue]:
    """Returns the key if its counter has room for `count` words, else a derived key with a counter of 0."""
    zero, ones = b.constant(0, WORD), b.constant(ONES, WORD)
    new = [*hash_counter(b, key[:4], [*key[4:6], ones, ones]), zero, zero, zero, zero, b.constant(1 << 63, WORD), zero]
    stepped = [*key[:4], *_stepped(b, key), zero, zero, *_shifted(b, key)]
    has_room = b.add(CmpiOp(key[7], b.constant((ONES - count) & ONES, WORD), "ult"))
    return _either(b, has_room, key, _either(b, _is_full(b, key), new, stepped))


def _either(b: Body, condition: SSAValue, then: Words, otherwise: Words) -> list[SSAValue]:
    return [b.add(SelectOp(condition, *pair)) for pair in zip(then, otherwise, strict=True)]


def _is_full(b: Body, key: Words) -> SSAValue:
    """Returns whether the path has no room for a step."""
    return b.compare(b.logical_or(key[8], key[9]), "eq", 0)


def _stepped(b: Body, key: Words) -> list[SSAValue]:
    """Returns the path with a step."""
    return [b.logical_or(key[4], key[8]), b.logical_or(key[5], key[9])]


def _shifted(b: Body, key: Words) -> list[SSAValue]:
    """Returns the position of the step after the next."""
    zero, one = b.constant(0, WORD), b.constant(1, WORD)
    is_none, is_last = (b.compare(key[8], "eq", number) for number in (zero, one))
    halves = [b.add(arith.ShRUIOp(word, one)) for word in key[8:10]]
    behind = b.select(is_last, 1 << 63, zero)
    return [halves[0], b.select(is_none, halves[1], behind)]

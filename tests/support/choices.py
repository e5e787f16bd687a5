"""Sources of a generator's decisions: hypothesis, which shrinks failing examples, or a seed, which is faster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(ABC):
    """A stream of decisions. The first of several items is the simplest: shrinking moves towards it."""

    @abstractmethod
    def below(self, limit: int) -> int:
        """Returns a number from 0 to `limit` - 1."""

    def pick(self, items: Sequence[T]) -> T:
        """Returns one of several items."""
        return items[self.below(len(items))] if len(items) > 1 else items[0]

    def chance(self, percent: int) -> bool:
        """Returns True with a probability of `percent` in 100."""
        return self.below(100) >= 100 - percent


class Drawn(Choices):
    """Decisions that hypothesis draws."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]):
        self._draw = draw

    def below(self, limit: int) -> int:
        return self._draw(_numbers(limit))


_NUMBERS: dict[int, st.SearchStrategy[int]] = {}


def _numbers(limit: int) -> st.SearchStrategy[int]:
    """The strategy of the numbers below `limit`; it is cached, as making one costs more than drawing from it."""
    if limit not in _NUMBERS:
        _NUMBERS[limit] = st.integers(0, limit - 1)
    return _NUMBERS[limit]


class Seeded(Choices):
    """Decisions of a seeded generator."""

    def __init__(self, seed: int):
        self._random = Random(seed)

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

"""Where a generator takes its decisions from: hypothesis, which shrinks what fails, or a seed, which is quick."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(ABC):
    """A stream of decisions. The first of several things is the simplest: shrinking moves towards it."""

    @abstractmethod
    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""

    def pick(self, items: Sequence[T]) -> T:
        """One of several things."""
        return items[self.below(len(items))] if len(items) > 1 else items[0]

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) >= 100 - percent


class Drawn(Choices):
    """Decisions of hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]):
        self._draw = draw

    def below(self, limit: int) -> int:
        return self._draw(_numbers(limit))


_NUMBERS: dict[int, st.SearchStrategy[int]] = {}


def _numbers(limit: int) -> st.SearchStrategy[int]:
    """The strategy of the numbers below `limit`; making one costs more than drawing from it."""
    if limit not in _NUMBERS:
        _NUMBERS[limit] = st.integers(0, limit - 1)
    return _NUMBERS[limit]


class Seeded(Choices):
    """Decisions of a seed."""

    def __init__(self, seed: int):
        self._random = Random(seed)

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)

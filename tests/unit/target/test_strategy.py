"""The strategy registry: priorities, conditions, reasons."""

from __future__ import annotations

import pytest
from xdsl.dialects.test import TestOp

from xrelay.errors import LoweringError
from xrelay.target.strategy import StrategyRegistry


def registry() -> StrategyRegistry[str]:
    strategies: StrategyRegistry[str] = StrategyRegistry()
    strategies.register(TestOp, "slow", priority=5)("slow build")
    strategies.register(TestOp, "fast", priority=15, condition=lambda op: None if op.results else "no result")("fast")
    return strategies


def test_greatest_priority_wins() -> None:
    from xdsl.dialects.builtin import i32

    selection = registry().select(TestOp(result_types=[i32]))
    assert selection.implementation.name == "fast"
    assert "priority 15" in selection.reason


def test_refusal_is_part_of_the_reason() -> None:
    selection = registry().select(TestOp())
    assert selection.implementation.name == "slow"
    assert selection.reason == "priority 5; fast: no result"


def test_nothing_fits_names_every_refusal() -> None:
    strategies: StrategyRegistry[str] = StrategyRegistry()
    strategies.register(TestOp, "a", condition=lambda op: "too odd")("a")
    with pytest.raises(LoweringError, match=r"no implementation of test\.op .*: a: too odd"):
        strategies.select(TestOp())
    with pytest.raises(LoweringError, match=r"none.*registered"):
        StrategyRegistry[str]().select(TestOp())


def test_second_implementation_of_a_name_is_refused() -> None:
    with pytest.raises(LoweringError, match="already"):
        registry().register(TestOp, "fast")("other")

"""Composites compute the same as their ops: interpreted, inlined again, and in native code."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.pass_checks import Before, apply, check_exact
from support.random_programs import EXACT, seeded_module

import xrelay
from xrelay import relay, transform
from xrelay.passes.patterns.composites import TableRow
from xrelay.passes.patterns.language import dominates, is_if, is_op, is_tuple, is_tuple_get_item, wildcard
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.relay import dataflow_pattern as dataflow_pattern  # so that patterns can be matched against expressions
from xrelay.relay.passes.merge_composite import merge_composites


def _op(kind: int) -> DFPattern:
    """Any operator of a fusion pattern kind."""
    return wildcard().has_attr({"TOpPattern": kind})


def rows() -> list[TableRow]:
    """Composites that occur in most programs."""
    path = _op(0)(None) | _op(1)(None)
    patterns = {
        "region": dominates(_op(0)(None) | _op(1)(None) | _op(2)(None), path, _op(1)(None)),
        "branch": is_if(wildcard(), wildcard(), wildcard()),
        "join": is_op("concatenate")(is_tuple(None)),
        "pair": _op(0)(_op(0)(wildcard()) | _op(1)(wildcard(), wildcard())),
        "field": is_tuple_get_item(wildcard()(None)),
        "step": _op(1)(wildcard(), wildcard()) | _op(2)(None),
    }
    return [TableRow(name, pattern) for name, pattern in patterns.items()]


@settings(max_examples=examples(30, more=2), deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1))
def test_random_programs_compute_the_same_bits(seed: int) -> None:
    before = Before.of(seeded_module(seed, EXACT), wild=True)
    changed = before.module.clone()
    made = merge_composites(changed, rows())
    event("composites" if made else "none")
    check_exact(before, before.after(changed))
    check_exact(before, before.after(apply(changed, "relay-inline")))


@settings(max_examples=examples(20, more=2), deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1))
def test_partitioned_functions_compute_the_same_bits(seed: int) -> None:
    before = Before.of(seeded_module(seed, EXACT), wild=True)
    changed = relay.IRModule.of(before.module)
    for row in rows():
        function = changed["main"]
        made = row.pattern.partition(function, {"Composite": row.name})
        assert isinstance(made, relay.Function)
        changed["main"] = made
    event("composites" if "Composite =" in str(changed["main"]) else "none")
    check_exact(before, before.after(changed))


def test_a_network_runs_natively_with_its_composites() -> None:
    x, w, b = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w", shape=(4, 3, 3, 3)), relay.var("b", shape=(4,))
    top = relay.nn.bias_add(relay.nn.conv2d(x, w, padding=(1, 1)), b)
    expr = relay.nn.relu(top) + relay.tanh(relay.exp(top))
    module = relay.IRModule.from_expr(relay.Function([x, w, b], relay.sum(expr, axis=[1])))
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=shape).astype(np.float32) for shape in ((1, 3, 8, 8), (4, 3, 3, 3), (4,))]
    table = [("region", rows()[0].pattern), ("conv", is_op("nn.bias_add")(is_op("nn.conv2d")(None), wildcard()))]
    merged = transform.MergeComposite(table)(module)
    assert str(merged).count("Composite =") == 1
    (expected,) = xrelay.compile(module, cache=False, threads=1).run(inputs)
    (found,) = xrelay.compile(merged, cache=False, threads=1).run(inputs)
    np.testing.assert_array_equal(found, expected)

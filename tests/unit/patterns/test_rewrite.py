"""Callbacks rewrite the matches of their patterns, until nothing changes, or once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from xrelay import relay, transform
from xrelay.errors import InputError, PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.patterns.ir_terms import is_same
from xrelay.relay.dataflow_pattern import (
    DFPattern,
    DFPatternCallback,
    FunctionPattern,
    dominates,
    is_constant,
    is_expr,
    is_op,
    is_tuple,
    rewrite,
    wildcard,
)

A, B, C = (relay.var(name, shape=(4,)) for name in "abc")
NodeMap = Mapping[DFPattern, Sequence[relay.Expr]]


class Replace(DFPatternCallback):
    """Replaces matches of `pattern` by `by`, applied to the nodes that the wildcards matched."""

    def __init__(
        self, pattern: DFPattern, by: Callable[..., relay.ExprLike], *wildcards: DFPattern, once: bool = False
    ):
        super().__init__(rewrite_once=once)
        self.pattern, self.by, self.wildcards = pattern, by, wildcards

    def callback(self, pre: relay.Expr, post: relay.Expr, node_map: NodeMap) -> relay.ExprLike:
        return self.by(*[node_map[one][0] for one in self.wildcards]) if self.wildcards else self.by(post)


def rewritten(callbacks: DFPatternCallback | Sequence[DFPatternCallback], expr: relay.Expr) -> relay.Expr:
    return cast(relay.Expr, rewrite(callbacks, expr))


def same(left: relay.Expr, right: relay.Expr) -> bool:
    return is_same(left, right)


def subtract() -> Replace:
    x, y = wildcard(), wildcard()
    return Replace(x + y, lambda x, y: x - y, x, y)


def test_every_match_is_replaced() -> None:
    assert same(rewritten(subtract(), (A + B) * relay.exp(B + C)), (A - B) * relay.exp(B - C))


def test_what_does_not_match_stays_the_same_expression() -> None:
    expr = relay.exp(A) * B
    assert rewritten(subtract(), expr) == expr
    changed = rewritten(subtract(), expr + C)
    assert isinstance(changed, relay.Call)
    assert changed.args == [expr, C]


def test_the_method_does_the_same() -> None:
    assert same(cast(relay.Expr, subtract().rewrite(A + B)), A - B)


def test_nested_matches_and_the_node_map_know_what_was_rewritten_before() -> None:
    """Each of the two nested matches is rewritten, and the result contains both."""
    x = wildcard()
    double = Replace(is_op("exp")(x), lambda x: relay.tanh(x), x)
    assert same(rewritten(double, relay.exp(relay.exp(A))), relay.tanh(relay.tanh(A)))


def test_pre_is_what_stood_there_and_post_has_rewritten_parts() -> None:
    seen: list[tuple[relay.Expr, relay.Expr]] = []

    class Note(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__(rewrite_once=True)
            self.pattern = is_op("exp")(wildcard())

        def callback(self, pre: relay.Expr, post: relay.Expr, node_map: NodeMap) -> relay.ExprLike:
            seen.append((pre, post))
            assert self.pattern is not None
            assert node_map[self.pattern][0] == post
            return relay.tanh(cast(relay.Call, post).args[0])

    inner = relay.exp(A)
    outer = relay.exp(inner)
    rewritten(Note(), outer)
    assert [pre for pre, _ in seen] == [inner, outer]
    assert same(seen[1][1], relay.exp(relay.tanh(A)))


def test_a_callback_that_gives_what_it_got_ends() -> None:
    keep = Replace(wildcard() + wildcard(), lambda post: post)
    expr = A + (B + C)
    assert rewritten(keep, expr) == expr
    anew = Replace(is_op("exp")(wildcard()), lambda post: relay.exp(post.args[0]))
    assert same(rewritten(anew, relay.exp(A)), relay.exp(A))


def test_callbacks_take_turns_until_nothing_changes() -> None:
    zero, one = is_expr(relay.const(0.0)), is_expr(relay.const(1.0))
    x, y, z = wildcard(), wildcard(), wildcard()
    rules = [
        Replace(x + zero, lambda x: x, x),
        Replace(y * one, lambda y: y, y),
        Replace(zero * z, lambda zero: zero, zero),
    ]
    expr = (A + relay.const(0.0) * B) * relay.const(1.0) + relay.const(0.0)
    assert rewritten(rules, expr) == A


def shorter(post: relay.Call) -> relay.ExprLike:
    """The concatenation `post` without its last field."""
    joined = cast(relay.Tuple, post.args[0])
    return relay.concatenate(relay.Tuple(joined.fields[:-1]), axis=0) if len(joined) > 1 else joined[0]


def test_a_rewrite_that_lets_itself_match_again_goes_on() -> None:
    x = wildcard()
    pattern = is_op("concatenate")(is_tuple(None))
    joined = relay.concatenate([A, B, C], axis=0)
    assert rewritten(Replace(pattern, shorter), joined) == A
    assert same(rewritten(Replace(pattern, shorter, once=True), joined), relay.concatenate([A, B], axis=0))
    grow = Replace(is_op("exp")(x), lambda x: relay.nn.relu(relay.exp(x)), x, once=True)
    assert same(rewritten([grow, Replace(pattern, shorter)], relay.exp(joined)), relay.nn.relu(relay.exp(A)))


def test_callbacks_that_undo_each_other_are_told_apart_from_progress() -> None:
    x = wildcard()
    with pytest.raises(PassError, match="100 rewrites of Replace did not reach an end"):
        rewritten(Replace(is_op("exp")(x), lambda x: relay.exp(relay.tanh(x)), x), relay.exp(A))


def test_a_callback_without_a_pattern_or_an_answer() -> None:
    with pytest.raises(InputError, match="has no pattern"):
        rewritten(DFPatternCallback(), A)
    with pytest.raises(InputError, match="returned None"):
        rewritten(Replace(is_op("exp")(None), lambda post: None), relay.exp(A))  # pyright: ignore
    silent = DFPatternCallback()
    silent.pattern = is_op("exp")(None)
    with pytest.raises(InputError, match="has no callback"):
        rewritten(silent, relay.exp(A))


def test_numbers_may_stand_for_expressions() -> None:
    assert same(rewritten(Replace(is_op("exp")(None), lambda post: 2.0), relay.exp(A)), relay.const(2.0))


def test_constants_are_rewritten_and_variables_are_not() -> None:
    expr = A * relay.const(3.0)
    assert same(rewritten(Replace(is_constant(), lambda post: relay.const(4.0)), expr), A * relay.const(4.0))
    assert rewritten(Replace(is_expr(A), lambda post: B), expr) == expr


def test_parts_of_a_match_that_others_need_block_it() -> None:
    x = wildcard()
    fuse = Replace(is_op("nn.relu")(is_op("exp")(x)), lambda x: relay.tanh(x), x)
    inner = relay.exp(A)
    assert same(rewritten(fuse, relay.nn.relu(inner)), relay.tanh(A))
    shared = relay.nn.relu(inner) + inner
    assert rewritten(fuse, shared) == shared


def test_bodies_of_functions_branches_and_bindings_are_rewritten() -> None:
    flag, bound = relay.var("flag", shape=(), dtype="bool"), relay.var("bound", shape=(4,))
    function = relay.Function([A, B], A + B)
    expr = relay.If(flag, function(A, C), relay.Let(bound, A + C, bound * bound))
    made = rewritten(subtract(), expr)
    assert isinstance(made, relay.If)
    assert str(made).count("relay.subtract") == 2
    assert "relay.add" not in str(made)


def test_functions_that_call_themselves_are_rewritten() -> None:
    power, x, n = relay.var("power"), relay.var("x", shape=()), relay.var("n", shape=(), dtype="int32")
    body = relay.If(n < relay.const(1), x, power(relay.exp(x), n - relay.const(1)))
    function = relay.Function([x, n], body, ret_type=relay.TensorType((), "float32"))
    start, part = relay.var("start", shape=()), wildcard()
    expr = relay.Let(power, function, power(start, relay.const(2)))
    made = rewritten(Replace(is_op("exp")(part), relay.tanh, part), expr)
    module = transform.InferType()(relay.IRModule.from_expr(relay.Function([start], made)))
    np.testing.assert_allclose(run_relay(module, [np.array(0.5, np.float32)])[0], np.tanh(np.tanh(0.5)), rtol=1e-6)


def test_a_called_function_is_replaced_whole() -> None:
    x, y = wildcard(), wildcard()
    marked = wildcard().has_attr({"Composite": "sum"})(x, y)
    function = relay.Function([A, B], A + B).with_attr("Composite", "sum")
    assert same(rewritten(Replace(marked, lambda x, y: x - y, x, y), relay.exp(function(A, C))), relay.exp(A - C))
    anything = FunctionPattern(None, wildcard())(x, y)
    assert same(rewritten(Replace(anything, lambda x, y: x * y, x, y), function(A, C)), A * C)


def test_dominated_regions_are_replaced_one_after_the_other() -> None:
    x = wildcard()
    elementwise = wildcard().has_attr({"TOpPattern": 0})(wildcard())
    pattern = dominates(is_op("exp")(x), elementwise, is_op("add")(wildcard(), wildcard()))

    def region(data: relay.Expr) -> relay.Expr:
        top = relay.exp(data)
        return relay.nn.relu(relay.tanh(top)) + relay.sigmoid(top)

    replaced = rewritten(Replace(pattern, lambda x: relay.negative(x), x), region(region(A)))
    assert same(replaced, relay.negative(relay.negative(A)))


def test_functions_give_functions() -> None:
    function = relay.Function([A, B], A + B)
    made = rewrite(subtract(), function)
    assert isinstance(made, relay.Function)
    assert made.params == function.params
    func = rewrite(subtract(), function.to_func("f"))
    assert isinstance(func, FuncOp)
    assert (func.sym_name.data, "relay.subtract" in str(func)) == ("f", True)


def test_types_are_there_where_they_are_required() -> None:
    types: list[str] = []

    class Note(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__(require_type=True)
            self.pattern = is_op("exp")(wildcard())

        def callback(self, pre: relay.Expr, post: relay.Expr, node_map: NodeMap) -> relay.ExprLike:
            types.append(str(pre.checked_type))
            return post

    square = relay.Function([A], A * A)
    mod = relay.IRModule({"square": square})
    untyped = relay.GlobalVar("square")(A)
    made = rewrite(Note(), relay.exp(untyped), mod)
    assert set(types) == {"tensor<4xf32>"}
    assert relay.analysis.free_vars(cast(relay.Expr, made)) == [A]


def test_long_chains_are_rewritten_without_recursion() -> None:
    expr: relay.Expr = A
    for _ in range(1000):
        expr = relay.exp(expr) + B
    assert "relay.add" not in str(rewritten(subtract(), expr))


def test_numbers_stay_where_a_rewrite_means_the_same() -> None:
    x, y = wildcard(), wildcard()
    square = Replace(x * x, lambda x: relay.power(x, relay.const(2.0)), x)
    distribute = Replace((x + y) * is_expr(C), lambda x, y: x * C + y * C, x, y)
    expr = (relay.exp(A) * relay.exp(A) + (A + B) * C) * C
    values = [np.array([-1.0, 0.5, 2.0, 3.0], np.float32) * scale for scale in (1.0, 0.5, 2.0)]

    def value(of: relay.Expr) -> np.ndarray:
        function = relay.Function([A, B, C], of)
        return run_relay(transform.InferType()(relay.IRModule.from_expr(function)), values)[0]

    made = rewritten([square, distribute], expr)
    assert not same(made, expr)
    np.testing.assert_allclose(value(made), value(expr), rtol=1e-5)

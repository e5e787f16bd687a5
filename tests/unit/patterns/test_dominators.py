"""Dominator patterns: all paths from the child match the path pattern up to one parent, which the child dominates."""

from __future__ import annotations

from xrelay import relay
from xrelay.relay.dataflow_pattern import DominatorPattern, dominates, is_constant, is_op, is_var, wildcard

X, W = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(4, 4, 1, 1))


def conv(data: relay.Expr = X) -> relay.Expr:
    return relay.nn.conv2d(data, W)


def diamond() -> DominatorPattern:
    elementwise = wildcard().has_attr({"TOpPattern": 0})(wildcard())
    return dominates(is_op("nn.conv2d")(wildcard(), wildcard()), elementwise, is_op("add")(wildcard(), wildcard()))


def test_paths_of_any_length_and_number() -> None:
    top = conv()
    left = relay.nn.relu(relay.exp(top))
    assert diamond().match(left + relay.tanh(top))
    assert diamond().match(left + top)
    assert diamond().match(left + relay.tanh(left))
    assert diamond().match(top + top)


def test_a_path_with_a_diamond_of_its_own() -> None:
    path = wildcard().has_attr({"TOpPattern": 0})(wildcard()) | is_op("add")(wildcard(), wildcard())
    pattern = dominates(is_op("nn.conv2d")(wildcard(), wildcard()), path, is_op("multiply")(wildcard(), wildcard()))
    expr = relay.nn.relu(conv())
    for _ in range(60):
        expr = expr + expr
    assert pattern.match(relay.tanh(expr) * expr)


def test_two_parents_are_none() -> None:
    assert not diamond().match(relay.nn.relu(conv()) + relay.exp(conv()))
    top = conv()
    between = conv(relay.tanh(top))
    assert not diamond().match(relay.nn.relu(between) + relay.nn.relu(top))


def test_a_node_on_a_path_that_does_not_match() -> None:
    top = conv()
    assert not diamond().match(relay.nn.relu(top) + relay.nn.relu(top + top))
    assert not diamond().match(relay.nn.relu(top) - relay.nn.relu(top))


def test_a_path_that_leads_past_the_parent() -> None:
    assert not diamond().match(relay.nn.relu(conv()) + relay.nn.relu(X))
    assert not diamond().match(relay.nn.relu(X) + relay.exp(X))


def test_arguments_of_calls_that_are_variables_are_no_paths() -> None:
    bias = relay.var("bias", shape=(4,))
    path = wildcard().has_attr({"TOpPattern": 0})(None) | wildcard().has_attr({"TOpPattern": 1})(None)
    child = wildcard().has_attr({"TOpPattern": 2})(wildcard())
    pattern = child.dominates(is_op("nn.conv2d")(wildcard(), wildcard()), path)
    assert pattern.match(relay.reshape(relay.nn.relu(relay.nn.bias_add(conv(), bias)), newshape=(1, -1)))
    assert not pattern.match(relay.reshape(relay.nn.relu(bias), newshape=(2, 2)))


def test_types_and_names_narrow_parent_path_and_child() -> None:
    top = conv()
    expr = relay.nn.relu(top) + relay.exp(top)
    found = diamond()
    assert dominates(found.parent.has_dtype("float32"), found.path, found.child.has_shape((1, 4, 8, 8))).match(expr)
    assert not dominates(found.parent, found.path, found.child.has_shape((1, 4, 8, 9))).match(expr)
    assert not dominates(found.parent, found.path.has_dtype("float16"), found.child).match(expr)
    named = dominates(is_op("nn.conv2d")(is_var("y"), wildcard()), wildcard(), is_op("add")(wildcard(), wildcard()))
    assert not named.match(expr)


def test_the_default_path_is_anything() -> None:
    pattern = is_op("add")(wildcard(), wildcard()).dominates(is_op("nn.conv2d")(wildcard(), wildcard()))
    top = conv()
    assert pattern.match(relay.reshape(top, newshape=(4, 64)) + relay.reshape(relay.exp(top), newshape=(4, 64)))
    assert not pattern.match(relay.exp(X) + relay.exp(X))


def test_deep_paths_do_not_recurse() -> None:
    expr = top = conv()
    for _ in range(2000):
        expr = relay.nn.relu(expr)
    assert diamond().match(expr + top)
    assert not diamond().match(expr + is_constant_like(expr))


def is_constant_like(expr: relay.Expr) -> relay.Expr:
    """A relu of a constant, at which no matching path may end."""
    assert not is_constant().match(expr)
    return relay.nn.relu(relay.const(1.0))

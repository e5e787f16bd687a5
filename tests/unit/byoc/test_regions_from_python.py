"""External compilers through Relay's Python API: the ops they support, and the regions they receive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.frames import frames_left

import xrelay
from xrelay import ir, relay, transform
from xrelay.errors import InputError, PassError
from xrelay.relay.byoc import hooks
from xrelay.relay.dataflow_pattern import is_op, wildcard
from xrelay.relay.op.annotation import compiler_begin as begin
from xrelay.relay.op.annotation import compiler_end as end

Module = relay.IRModule


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores the registry after the test."""
    monkeypatch.setattr(hooks, "_TARGET_HOOKS", {})


def take(target: str, *names: str) -> None:
    for name in names:
        ir.register_op_attr(name, f"target.{target}", lambda call: True)


def partition(module: Module, *targets: str) -> Module:
    steps = [transform.AnnotateTarget(list(targets)), transform.MergeCompilerRegions(), transform.PartitionGraph()]
    made = transform.Sequential(steps)(module)
    assert isinstance(made, Module)
    return made


def names(module: Module) -> list[str]:
    return [var.name_hint for var in module.get_global_vars()]


def check_same(module: Module, *changed: Module) -> None:
    """Checks that each computes the same as `module`, interpreted and compiled."""
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal(param.shape).astype(np.float32) for param in module["main"].params]
    wanted = xrelay.interpret(module, inputs)
    for each in changed:
        for old, new in zip(wanted, xrelay.interpret(each, inputs), strict=True):
            np.testing.assert_array_equal(new, old)
        for old, new in zip(wanted, xrelay.compile(each, cache=False).run(inputs), strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)


# --- supported ops ----------------------------------------------------------------------------------------------------


def test_a_hook_gets_the_call_with_types() -> None:
    seen: list[str] = []

    @ir.register_op_attr("nn.relu", "target.mine")
    def takes_relu(call: relay.Call) -> bool:
        seen.append(f"{call.op} {call.args[0].checked_type}")
        return call.args[0].dtype == "float32"

    x = relay.var("x", shape=(10, 10))
    text = str(transform.AnnotateTarget("mine")(Module.from_expr(relay.nn.relu(relay.nn.relu(x)))))
    assert seen == ["Op(nn.relu) tensor<10x10xf32>"] * 2
    assert text.count('compiler = "mine"') == 4
    assert takes_relu.__name__ == "takes_relu"


@pytest.mark.parametrize(("level", "wanted"), [(9, 2), (10, 0)])
def test_a_hook_of_the_same_level_replaces_one(level: int, wanted: int) -> None:
    take("mine", "exp")
    relay.op.register_op_attr("exp", "target.mine", lambda call: False, level=level)
    text = str(transform.AnnotateTarget(["mine"])(Module.from_expr(relay.exp(relay.var("x", shape=(4,))))))
    assert text.count('compiler = "mine"') == wanted


def test_the_first_target_that_takes_an_op_gets_it() -> None:
    take("first", "exp")
    take("second", "exp", "tanh")
    x = relay.var("x", shape=(4,))
    module = Module.from_expr(relay.Function([x], relay.tanh(relay.exp(x))))
    made = partition(module, "first", "second")
    assert names(made) == ["main", "tvmgen_default_first_main_0", "tvmgen_default_second_main_1"]
    check_same(module, made)


@pytest.mark.parametrize("calls_alone", [False, True])
def test_targets_one_after_the_other_are_as_both_at_once(calls_alone: bool) -> None:
    take("a", "nn.relu")
    take("b", "add")
    x = relay.var("x", shape=(4,))
    r = relay.nn.relu(x)
    module = Module.from_expr(relay.Function([x], relay.add(relay.abs(r), relay.nn.relu(r))))
    after_another = transform.AnnotateTarget("b", not calls_alone)(
        transform.AnnotateTarget("a", not calls_alone)(module)
    )
    at_once = transform.AnnotateTarget(["a", "b"], include_non_call_ops=not calls_alone)(module)
    assert str(after_another) == str(at_once)
    assert str(transform.AnnotateTarget("a", not calls_alone)(after_another)) == str(at_once)


def test_composites_go_to_the_compiler_in_their_names() -> None:
    pattern = is_op("nn.relu")(is_op("add")(wildcard(), wildcard()))
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    module = Module.from_expr(relay.Function([x, y], relay.exp(relay.nn.relu(relay.add(x, y)))))
    merged = transform.MergeComposite([("mine.add_relu", pattern)])(module)
    made = partition(Module.of(merged), "mine")
    body = made["tvmgen_default_mine_main_0"].body
    assert isinstance(body, relay.Call)
    assert isinstance(body.op, relay.Function)
    assert body.op.attrs["Composite"] == "mine.add_relu"
    assert "relay.invoke" not in str(made["main"])
    check_same(module, made)


def test_only_targets_are_registered_from_outside() -> None:
    for key in ("TOpPattern", "target."):
        with pytest.raises(InputError, match="cannot be registered"):
            ir.register_op_attr("nn.relu", key)


def test_an_error_in_a_hook_names_it_and_the_op() -> None:
    def fails(call: relay.Call) -> bool:
        raise KeyError("missing")

    ir.register_op_attr("exp", "target.mine", fails)
    with pytest.raises(PassError, match=r"fails .*'mine' .*exp raised KeyError: 'missing'"):
        transform.AnnotateTarget("mine")(Module.from_expr(relay.exp(relay.var("x", shape=(4,)))))


# --- regions ----------------------------------------------------------------------------------------------------------


def test_joined_regions_are_those_of_relays_example() -> None:
    inputs = [relay.var(f"in_{number}", shape=(4,)) for number in range(10)]

    def test(*values: relay.Expr) -> relay.Expr:
        return end(relay.add(*(begin(value, "test") for value in values)), "test")

    def other(*values: relay.Expr) -> relay.Expr:
        return end(relay.subtract(*(begin(value, "default") for value in values)), "default")

    left = test(test(inputs[0], inputs[1]), test(inputs[2], inputs[3]))
    middle = relay.add(begin(left, "test"), begin(other(inputs[6], other(inputs[4], inputs[5])), "test"))
    right = test(other(inputs[7], end(middle, "test")), test(inputs[8], end(middle, "test")))
    module = Module.from_expr(relay.Function(inputs, test(inputs[9], right)))
    merged = transform.MergeCompilerRegions()(module)
    made = transform.PartitionGraph()(merged)
    assert isinstance(made, Module)
    assert isinstance(merged, Module)
    assert names(made) == ["main", "tvmgen_default_test_main_0", "tvmgen_default_test_main_7"]
    check_same(module, merged, made)


def test_outputs_are_those_that_others_use_each_once() -> None:
    take("bn", "nn.batch_norm", "nn.relu")
    data, *params = [relay.var("data", shape=(3, 4)), *(relay.var(name, shape=(4,)) for name in "abcd")]
    norm = relay.nn.batch_norm(data, *params)
    mean = norm[1]
    fields = [relay.nn.relu(norm[0]), relay.tanh(mean), relay.exp(mean)]
    made = partition(Module.from_expr(relay.Function([data, *params], relay.Tuple(fields))), "bn")
    body = made["tvmgen_default_bn_main_0"].body
    assert isinstance(body, relay.Tuple)
    assert len(body) == 2
    # Function passes leave it as it is for its compiler.
    assert "relay.nn.batch_norm" in str(transform.SimplifyInference()(made))
    assert "relay.nn.batch_norm" in str(transform.Inline()(made))


@pytest.mark.parametrize(("bind", "wanted"), [(True, 1), (False, 2)])
def test_constants_are_bound_or_given(bind: bool, wanted: int) -> None:
    x = relay.var("x", shape=(4,))
    both = relay.add(begin(x, "c"), begin(relay.const(np.arange(4.0, dtype=np.float32)), "c"))
    module = Module.from_expr(relay.Function([x], relay.exp(end(both, "c"))))
    made = transform.PartitionGraph("net", bind)(module)
    assert isinstance(made, Module)
    assert len(made["tvmgen_net_c_main_0"].params) == wanted
    check_same(module, made)


def test_functions_beside_main_are_partitioned_under_their_names() -> None:
    take("c", "add")
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    module = Module({"helper": relay.Function([y], relay.exp(relay.add(y, y)))})
    module["main"] = relay.Function([x], relay.add(module.get_global_var("helper")(x), x))
    made = partition(module, "c")
    assert set(names(made)) == {"helper", "main", "tvmgen_default_c_helper_0", "tvmgen_default_c_main_0"}
    check_same(module, made)
    again = transform.PartitionGraph()(made)
    assert str(again) == str(made)


@pytest.mark.parametrize("non_calls", [False, True])
def test_what_is_chosen_by_a_branch_is_no_part_of_a_region(non_calls: bool) -> None:
    take("c", "sigmoid", "erf", "add")
    x = relay.var("x", shape=(1, 8))
    both = relay.add(x, x)
    rest = relay.subtract(both, x)
    chosen = relay.If(relay.less(relay.sum(both), relay.sum(rest)), relay.sigmoid(both), relay.sigmoid(rest))
    module = Module.from_expr(relay.Function([x], relay.add(both, relay.erf(chosen))))
    marked = Module.of(transform.AnnotateTarget("c", non_calls)(module))
    merged = Module.of(transform.MergeCompilerRegions()(marked))
    made = Module.of(transform.PartitionGraph()(merged))
    assert names(made) == ["main", *(f"tvmgen_default_c_main_{number}" for number in (0, 2, 3, 4))]
    check_same(module, marked, merged, made)


def test_a_region_holds_no_op_of_a_branch_with_ops_outside() -> None:
    take("c", "add", "divide")
    c, x = relay.var("c", shape=(), dtype="bool"), relay.var("x", shape=(2,), dtype="int32")
    both = relay.add(x, x)
    chosen = relay.If(c, relay.divide(both, x), relay.add(both, both))
    made = partition(Module.from_expr(relay.Function([c, x], chosen)), "c")
    zeros = np.zeros(2, np.int32)
    assert xrelay.interpret(made, [np.array(False), zeros])[0].tolist() == [0, 0]
    assert xrelay.compile(made, cache=False).run([np.array(False), zeros])[0].tolist() == [0, 0]


@pytest.mark.parametrize("dims", ["n", "2 * n + 1"])
def test_names_of_dimensions_go_through(dims: str) -> None:
    text = """
    func.func @main(%x: tensor<?x2xf32, #relay.dims<N>>) -> tensor<?x2xf32, #relay.dims<N>> {
      %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (T) -> T
      %e = relay.exp(%b) : (T) -> T
      %s = relay.add(%e, %b) : (T, T) -> T
      %y = relay.annotation.compiler_end(%s) {compiler = "c"} : (T) -> T
      %z = relay.tanh(%y) : (T) -> T
      func.return %z : T
    }
    """.replace("N>", f"{dims}>").replace("T", f"tensor<?x2xf32, #relay.dims<{dims}>>")
    module = xrelay.parse(text)
    made = transform.PartitionGraph()(module)
    assert "relay.call @tvmgen_default_c_main_0<" in str(made)
    x = np.ones((3, 2), np.float32)
    np.testing.assert_array_equal(xrelay.interpret(made, [x])[0], xrelay.interpret(module, [x])[0])
    np.testing.assert_allclose(
        xrelay.compile(made, cache=False).run([x])[0], xrelay.interpret(module, [x])[0], rtol=1e-5
    )


def test_an_extent_that_is_made_inside_and_named_outside_is_refused() -> None:
    x = relay.var("x", shape=(4,))
    places = end(relay.argwhere(begin(x, "c")), "c")
    module = transform.InferType()(Module.from_expr(relay.Function([x], relay.negative(places))))
    with pytest.raises(PassError, match=r"the extent 'k'"):
        transform.PartitionGraph()(module)


# --- many ops ---------------------------------------------------------------------------------------------------------

Chain = Callable[[relay.Expr, int], relay.Expr]


@pytest.mark.parametrize(
    ("step", "functions"),
    [
        (lambda value, number: relay.exp(value), 1),
        (lambda value, number: [relay.exp, relay.tanh][number % 2](value), 400),
    ],
    ids=["one region", "a region each second op"],
)
def test_depth_is_no_limit(step: Chain, functions: int) -> None:
    take("c", "exp")
    x = relay.var("x", shape=(2,))
    value: relay.Expr = x
    for number in range(800):
        value = step(value, number)
    module = Module.from_expr(relay.Function([x], value))
    with frames_left(400):
        made = partition(module, "c")
    assert len(names(made)) == functions + 1

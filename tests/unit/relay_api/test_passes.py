"""Passes called from Python: their results, their unchanged inputs, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.seed_example import body, example, module
from xdsl.dialects import test
from xdsl.dialects.builtin import Float64Type, ModuleOp, StringAttr, TensorType, UnitAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay import relay, transform
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.unary import ExpOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.errors import ConstraintError, PassError, VerificationError, XRelayError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.type_upkeep import TypeUpkeep
from xrelay.target import Target
from xrelay.transform import PassContext, Sequential

X, W = relay.var("x", shape=(2, 3)), relay.var("w")


def small() -> ModuleOp:
    return relay.Module.from_expr(relay.exp(relay.add(X, X)))


def functions(mod: ModuleOp) -> list[FuncOp]:
    return [op for op in mod.walk() if isinstance(op, FuncOp)]


# --- results ----------------------------------------------------------------------------------------------------------


def test_a_pass_leaves_its_input_alone() -> None:
    given = module()
    before = str(given)
    for name in ("FoldConstant", "FuseOps", "DeadCodeElimination", "relay-fuse-ops{max-depth=4}", "canonicalize"):
        assert transform.create_pass(name)(given) is not given
    assert str(given) == before


def test_a_pass_of_ones_own_may_keep_what_it_saw() -> None:
    kept: list[ModuleOp] = []
    keep: Any = transform.module_pass(lambda mod, ctx: kept.append(mod) or mod, opt_level=0, name="keep")
    Sequential(["FoldConstant", keep, "FuseOps"])(module())
    assert "relay.fused" not in str(kept[0])


def test_types_that_contradict_are_an_error_of_inference() -> None:
    given = relay.Module.from_expr(relay.Function([X, W], relay.nn.dense(X, W) + relay.add(W, X)))
    with pytest.raises(XRelayError, match=r"\[InferType\]") as caught:
        Sequential(["InferType"])(given)
    assert "\n" not in str(caught.value)


def test_options_are_positional_or_named_and_reach_the_pass() -> None:
    assert transform.FuseOps(0).info.spec == "relay-fuse-ops{fuse_opt_level=0}"
    assert transform.FuseOps(fuse_opt_level=0, max_depth=4).info.spec == "relay-fuse-ops{fuse_opt_level=0 max_depth=4}"
    assert transform.create_pass("FuseOps{max-depth=4}").info.spec == "relay-fuse-ops{max_depth=4}"


def test_modules_whose_types_nobody_inferred_are_typed_first() -> None:
    weight = relay.var("w")
    func = relay.Function([X, weight], relay.nn.dense(X, weight, units=4))
    fused = transform.FuseOps()(relay.Module.from_expr(func))
    assert "incomplete" not in str(fused)


def test_a_skip_function_is_an_option() -> None:
    pair = relay.add(relay.add(X, X) * relay.add(X, X), relay.exp(X) * relay.exp(X))
    given = relay.Module.from_expr(pair)
    passes = [
        transform.EliminateCommonSubexpr(skip=lambda op: isinstance(op, AddOp)),
        transform.EliminateCommonSubexpr(lambda expr: isinstance(expr, relay.Call) and expr.op.name == "add"),
    ]
    for each in passes:
        merged = each(given)
        count = [sum(isinstance(op, kind) for op in merged.walk()) for kind in (AddOp, ExpOp)]
        assert count == [3, 1]
    assert transform.EliminateCommonSubexpr(None).info.name == "EliminateCommonSubexpr"


def test_function_passes_skip_kernels_declarations_and_what_is_marked() -> None:
    seen: list[str] = []

    @transform.function_pass(opt_level=0)
    def look(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        seen.append(func.sym_name.data)
        return func

    @transform.kernel_pass(opt_level=0)
    def look_at_kernels(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        seen.append(f"kernel {func.sym_name.data}")
        return func

    names = ["main", "other", "primitive", "scheduled", "skipped", "compiled"]
    given = relay.Module({name: relay.Function([X], relay.exp(X)) for name in names})
    marks = ["relay.primitive", "loop.kernel", "relay.skip_optimization", "Compiler"]
    for function, mark in zip(functions(given)[2:], marks, strict=True):
        function.attributes[mark] = UnitAttr()
    given.body.block.add_op(FuncOp.external("declared", [], []))
    Sequential([look, look_at_kernels])(given)
    assert seen == ["main", "other", "kernel primitive", "kernel scheduled"]


def test_a_function_pass_may_give_a_new_function() -> None:
    @transform.function_pass(opt_level=0)
    def replace(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        return relay.Function([X], relay.negative(X)).to_func("any_name")

    result = replace(small())
    assert [function.sym_name.data for function in functions(result)] == ["main"]
    assert "relay.negative" in str(result)


def test_a_function_pass_may_give_a_function_of_the_builder() -> None:
    @transform.function_pass(opt_level=0)
    def replace(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> relay.Function:
        return relay.Function([X], relay.negative(X))

    result = replace(small())
    assert [function.sym_name.data for function in functions(result)] == ["main"]
    assert "relay.negative" in str(result)


def test_types_follow_a_rewrite_and_only_what_changed_is_inferred() -> None:
    to_double = transform.function_pass(_make_parameters_double, opt_level=0)
    result = to_double(small())
    assert "f32" not in str(result)
    mod = small()
    types = TypeUpkeep(functions(mod))
    types.update(mod, functions(mod))
    assert types.inferred == 0
    exp = next(op for op in mod.walk() if isinstance(op, ExpOp))
    Rewriter.replace_op(exp, ExpOp.call(exp.operands[0]))
    types.update(mod, functions(mod))
    assert types.inferred == 1


def _make_parameters_double(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
    for argument in func.body.block.args:
        assert isinstance(argument.type, TensorType)
        double = TensorType(Float64Type(), argument.type.get_shape())
        Rewriter.replace_value_with_new_type(argument, double)
    return func


def test_types_of_callers_follow_too() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = func.call @half(%x) : (tensor<2xf32>) -> tensor<2xf32>
      %z = relay.exp(%y) : (tensor<2xf32>) -> tensor<2xf32>
      func.return %z : tensor<2xf32>
    }
    func.func @half(%x: tensor<2xf32>) -> tensor<2xf32> {
      func.return %x : tensor<2xf32>
    }"""

    @transform.function_pass(opt_level=0)
    def twice(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        if func.sym_name.data == "half":
            last = func.body.block.last_op
            assert last is not None
            value = relay.concatenate((func.body.block.args[0], func.body.block.args[0]), axis=0).value
            assert isinstance(value.owner, Operation)
            tuple_op = value.owner.operands[0].owner
            assert isinstance(tuple_op, Operation)
            func.body.block.insert_ops_before([tuple_op, value.owner], last)
            last.operands[0] = value
        return func

    result = str(twice(parse_module(full_context(), text, "t.mlir")))
    assert result.count("tensor<4xf32>") == 8


# --- errors -----------------------------------------------------------------------------------------------------------


def break_dominance(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
    first = func.body.block.first_op
    assert first is not None
    first.detach()
    last = func.body.block.last_op
    assert last is not None
    func.body.block.insert_op_before(first, last)
    return func


def break_types(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
    add = next(op for op in func.walk() if isinstance(op, AddOp))
    other = ConstantOp.of(np.ones(2, np.float32))
    Rewriter.insert_op(other, InsertPoint.before(add))
    add.operands[1] = other.result
    return func


def give_nothing(func: FuncOp, mod: ModuleOp, ctx: PassContext) -> Any:
    return None


def lie_about_a_type(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    exp = next(op for op in mod.walk() if isinstance(op, ExpOp))
    Rewriter.replace_value_with_new_type(exp.result, TensorType(f32, [7]))
    return mod


def crash(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    mod.body.block.add_op(test.TestOp())
    raise IndexError("list index\nout of range")


def give_text(mod: ModuleOp, ctx: PassContext) -> Any:
    return "module"


def recurse(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    return recurse(mod, ctx)


@pytest.mark.parametrize(
    ("kind", "function", "error", "message"),
    [
        ("function", break_dominance, VerificationError, "ill-formed"),
        ("function", break_types, ConstraintError, r"\[relay.add C"),
        (
            "function",
            give_nothing,
            TypeError,
            "return value of a function pass must be set to a FuncOp, found NoneType",
        ),
        ("module", lie_about_a_type, VerificationError, "left an ill-formed module"),
        ("module", crash, PassError, "raised IndexError: list index out of range"),
        ("module", give_text, TypeError, "return value of a module pass must be set to a ModuleOp, found str"),
        ("module", recurse, PassError, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("within", [False, True])
def test_a_failing_pass_is_named_in_one_line_and_its_input_unharmed(
    kind: str, function: Any, error: type[Exception], message: str, within: bool
) -> None:
    make: Any = transform.function_pass if kind == "function" else transform.module_pass
    broken = make(function, opt_level=0, name="Broken")
    current = Sequential([transform.FoldConstant(), broken]) if within else broken
    given = small()
    before = str(given)
    with pytest.raises(error, match=message) as caught:
        current(given)
    assert isinstance(caught.value, XRelayError)
    assert "[Broken]" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(given) == before


def test_an_ill_formed_module_is_refused_by_name_before_the_pass_runs() -> None:
    given = small()
    exp = next(op for op in given.walk() if isinstance(op, ExpOp))
    Rewriter.replace_value_with_new_type(exp.result, TensorType(f32, [7]))
    with pytest.raises(
        VerificationError, match=r"\[FoldConstant\] the module given to the pass is ill-formed: \[relay"
    ):
        transform.FoldConstant()(given)
    with PassContext(config={"xrelay.verify_each": False}):
        transform.FoldConstant()(given)


def test_a_module_nested_too_deeply_to_be_copied() -> None:
    nested = ModuleOp([])
    for _ in range(1500):
        nested = ModuleOp([nested])
    with pytest.raises(PassError, match=r"\[FoldConstant\] the program is nested too deeply"):
        transform.FoldConstant()(nested)


def test_a_refusal_of_the_pass_names_it() -> None:
    with pytest.raises(PassError, match=r"^\[FuseOps\] max-depth is 0"):
        transform.FuseOps(max_depth=0)(small())


def test_immutable_module_finds_who_changes_what_is_not_theirs() -> None:
    given = small()

    @transform.module_pass(opt_level=0)
    def sly(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        given.attributes["changed"] = UnitAttr()
        return mod

    sly(given)
    del given.attributes["changed"]
    with (
        pytest.raises(PassError, match=r"\[sly\] the pass changed the module it was given"),
        PassContext(config={"testing.immutable_module": True}),
    ):
        sly(given)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: transform.FuseOps(fuse_level=2), ValueError, r"\[FuseOps\] has no option 'fuse_level'; .*'fuse_opt_l"),
        (lambda: transform.FuseOps("2"), TypeError, r"\[FuseOps\] option 'fuse_opt_level' must be int, found '2'"),
        (lambda: transform.FuseOps(True), TypeError, "must be int, found True"),
        (lambda: transform.FuseOps(1, 2), ValueError, "takes 1 positional options, got 2"),
        (lambda: transform.FuseOps(1, fuse_opt_level=2), ValueError, "option 'fuse_opt_level' is given twice"),
        (lambda: transform.InferType(depth=1), ValueError, "has no option 'depth'; help: options: none"),
        (lambda: transform.create_pass("FoldConstat"), PassError, "no pass .* did you mean 'FoldConstant'"),
        (lambda: transform.create_pass("zzz"), PassError, "no pass is called 'zzz'; help: Relay's are InferType"),
        (lambda: transform.create_pass("FuseOps{"), PassError, "malformed pass 'FuseOps{'"),
        (lambda: transform.create_pass("FuseOps,dce"), PassError, "names 2 passes"),
        (lambda: transform.create_pass("FuseOps{depth=1}"), ValueError, r"\[FuseOps\] .*depth"),
        (lambda: transform.create_pass("dce{depth=1}"), ValueError, r"\[dce\] .*depth"),
        (lambda: Sequential(transform.FuseOps()), TypeError, "passes must be a list of Pass objects, found NamedPass"),
        (lambda: Sequential([None]), TypeError, r"\[sequential\] None is not a pass"),
        (lambda: Sequential([transform.FuseOps]), TypeError, "call the class to create a pass"),
        (lambda: Sequential([], required="x"), TypeError, "Required is expected to be the type of list/tuple"),
        (lambda: Sequential([], opt_level=-1), ValueError, "opt_level must not be negative"),
        (lambda: transform.FoldConstant()(example()), TypeError, r"\[FoldConstant\] a pass takes a module, found Func"),
    ],
)
def test_misuse(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        make()
    assert isinstance(caught.value, PassError)
    assert "\n" not in str(caught.value)


def test_a_required_pass_that_does_not_exist() -> None:
    lonely: Any = transform.module_pass(lambda mod, ctx: mod, opt_level=0, required=["Nowhere"], name="lonely")
    with pytest.raises(PassError, match=r"\[lonely\] cannot use 'Nowhere', .* to create the pass: no pass is called"):
        Sequential([lonely])(small())
    lonely(small())


def test_unknown_names_of_the_module_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no pass 'FuseOp'; did you mean 'FuseOps'"):
        _ = transform.FuseOp


def test_locations_survive() -> None:
    text = 'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> loc("here") }'
    given = parse_module(full_context(), text, "t.mlir")
    last = functions(transform.FoldConstant()(given))[0].body.block.last_op
    assert last is not None
    assert "here" in str(last.location)


def test_xdsl_passes_are_passes_too() -> None:
    assert transform.create_pass("canonicalize").info == transform.PassInfo(0, "canonicalize")
    given = small()
    given.attributes["name"] = StringAttr("kept")
    assert Sequential(["canonicalize", "relay-fuse-ops"])(given).attributes["name"] == StringAttr("kept")
    assert body(Sequential([])(module())) == body(module())


def test_batching_ops_joins_what_stands_side_by_side() -> None:
    weights = [relay.var(f"w{number}", shape=(4, 4)) for number in range(3)]
    assert transform.BatchingOps().info.name == "BatchingOps"
    data = relay.var("data", shape=(2, 4))
    results = relay.Tuple([relay.nn.dense(data, weight) for weight in weights])
    given = relay.Module.from_expr(relay.Function([data, *weights], results))
    with transform.PassContext(opt_level=4):
        assert str(transform.BatchingOps()(given)).count("relay.nn.batch_matmul") == 1
    with transform.PassContext(disabled_pass=["BatchingOps"]):
        assert "BatchingOps" in dir(transform)


def test_functions_that_are_values_are_expanded_from_the_beginning() -> None:
    x = relay.var("x", shape=(3,))
    given = relay.IRModule({"f": relay.Function([x], relay.nn.relu(x))})
    f = given.get_global_var("f")
    y = relay.var("y", shape=(3,))
    cond = relay.var("c", shape=(), dtype="bool")
    given["main"] = relay.Function([cond, y], relay.If(cond, f, f)(y))
    text = str(given)
    assert text.count("relay.fn(") == 2
    assert str(transform.EtaExpand(expand_global_var=True)(given)) == text
    assert transform.EtaExpand().info.name == "EtaExpand"


@pytest.mark.parametrize("config", [None, "llvm", Target("cpu -mcpu=znver4")])
def test_plan_devices_has_one_to_choose(config: Target | str | None) -> None:
    given = relay.Module.from_expr(relay.Function([X], relay.exp(X)))
    planned = transform.Sequential([transform.PlanDevices(config), "PlanDevices"])(given)
    assert str(planned) == str(given)
    with pytest.raises(PassError, match="target 'cuda' is not a CPU"):
        transform.PlanDevices("cuda")
    with pytest.raises(PassError, match="3 is not a target"):
        transform.PlanDevices(3)


def test_a_global_variable_is_a_value_once_its_function_is_there() -> None:
    x, y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))
    cond = relay.var("c", shape=(), dtype="bool")
    module = relay.IRModule()
    g, h = relay.GlobalVar("g"), relay.GlobalVar("h")
    module[g] = relay.Function([x], relay.nn.relu(x))
    module[h] = relay.Function([x], relay.negative(x))
    module["main"] = relay.Function([cond, y], relay.Call(relay.If(cond, g, h), [y]))
    assert str(module["main"]).count("func.call") == 2
    module[g] = relay.Function([], relay.const(1))
    assert g.function_type is not None
    assert not g.function_type.inputs.data


def test_lambda_lift_makes_functions_of_closures() -> None:
    """All of them remain functions, as in Relay; `relay-lift-closures` inlines those called once."""
    x = relay.var("x", shape=(3,))
    c = relay.var("c", shape=(), dtype="bool")
    a, b = (relay.var(name, shape=(3,)) for name in "ab")
    chosen = relay.If(c, relay.Function([a], relay.add(a, x)), relay.Function([b], relay.multiply(b, x)))
    lifted = transform.LambdaLift()(relay.Module.from_expr(relay.Function([c, x], chosen)))
    assert "relay.fn(" not in str(lifted)
    assert len(functions(lifted)) == 3
    program = relay.Module.from_expr(relay.Function([c, x], chosen(x)))
    assert len(functions(transform.LambdaLift()(program))) == 3
    assert len(functions(transform.create_pass("relay-lift-closures")(program))) == 1


def test_inline_takes_functions_that_ask_for_it() -> None:
    """As in Relay: `Inline = 0` requests nothing, another compiler's function stays, inlined functions are removed."""

    def program(**marks: object) -> relay.IRModule:
        x, y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))
        module = relay.IRModule()
        callee = relay.Function([x], relay.exp(x))
        for name, value in marks.items():
            callee = callee.with_attr(name, value)
        module["f"] = callee
        f = module.get_global_var("f")
        module["main"] = relay.Function([y], f(f(y)))
        return module

    inlined = transform.Inline()(program(Inline=1))
    assert [function.sym_name.data for function in functions(inlined)] == ["main"]
    assert str(inlined).count("relay.exp") == 2
    for marks in ({}, {"Inline": 0}, {"Inline": 1, "Compiler": "acme"}):
        kept = transform.Inline()(program(**marks))
        assert str(kept).count("relay.exp") == 1
        assert relay.IRModule.of(kept)["f"].attrs.keys() >= marks.keys() - {"Inline"}
    assert len(functions(transform.create_pass("relay-inline")(program()))) == 2

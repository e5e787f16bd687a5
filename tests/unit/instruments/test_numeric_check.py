"""`NumericCheck` at every level that has an interpreter, and across the lowerings between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support import networks
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xrelay import instrument, relay, transform
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.errors import PassError
from xrelay.lowering.pipelines import all_passes, compile_stages
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.infra.xrelay_pass import EXACT, UNKNOWN, XRelayPass, numerics_of
from xrelay.passes.instruments.numeric_check import describe_difference
from xrelay.relay.pass_api.named_passes import XdslPass
from xrelay.transform import PassContext, Sequential

TO_LOOP = all_passes(compile_stages())
TO_LOOP = TO_LOOP[: TO_LOOP.index("convert-loop-to-scf")]
TO_TOPI = [*TO_LOOP[: TO_LOOP.index("convert-relay-to-topi") + 1]]


def small() -> ModuleOp:
    x = relay.var("x", shape=("n", 3))
    doubled = relay.add(relay.const(1.0), relay.const(1.0))
    return relay.Module.from_expr(relay.Function([x], relay.exp(relay.multiply(x, doubled))))


def static() -> ModuleOp:
    x = relay.var("x", shape=(2, 3))
    return relay.Module.from_expr(relay.Function([x], relay.multiply(relay.exp(x), x)))


def run(check: instrument.NumericCheck, members: Sequence[Any], module: ModuleOp | None = None) -> ModuleOp:
    with PassContext(opt_level=3, instruments=[check]):
        return Sequential(list(members))(small() if module is None else module)


def replace_each(mod: ModuleOp, kind: type[Operation], make: Any) -> ModuleOp:
    for op in [op for op in mod.walk() if isinstance(op, kind)]:
        Rewriter.replace_op(op, make(op))
    return mod


@transform.module_pass(opt_level=0)
def add_for_multiply(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    """A pass that changes results on relay."""
    return replace_each(mod, MultiplyOp, lambda op: AddOp.call(*op.operands))


@transform.module_pass(opt_level=0)
def addf_for_mulf(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    """A pass that changes results of kernel bodies, at the topi and the loop level."""
    return replace_each(mod, arith.MulfOp, lambda op: arith.AddfOp(op.lhs, op.rhs))


def test_it_is_content_with_passes_that_keep_results() -> None:
    check = instrument.NumericCheck()
    run(check, ["FoldConstant", "EliminateCommonSubexpr", "FuseOps"])
    names = ["FoldConstant", "InferType", "EliminateCommonSubexpr", "InferType", "FuseOps", "sequential"]
    assert (check.checked, check.unchecked) == (names, [])


def test_it_names_the_first_pass_that_changes_results() -> None:
    check = instrument.NumericCheck(seed=7)
    message = r"\[add_for_multiply\] changes result #0 of @main from .* help: the inputs were random from seed 7: float"
    with pytest.raises(PassError, match=message) as caught:
        run(check, ["FoldConstant", add_for_multiply, "FuseOps"])
    assert "\n" not in str(caught.value)
    assert check.checked == ["FoldConstant"]


@pytest.mark.parametrize("network", [networks.blocks_of_different_sizes, networks.reductions_of_reductions])
def test_the_whole_way_down_to_loops(network: networks.Build) -> None:
    check = instrument.NumericCheck()
    run(check, TO_LOOP, relay.Module.from_expr(network()))
    assert {"convert-relay-to-topi", "convert-topi-to-loop", "loop-apply-schedules"} <= set(check.checked)
    assert check.unchecked == []


@pytest.mark.parametrize(("way", "level"), [(TO_TOPI, "topi"), (TO_LOOP[:-3], "loop")])
def test_it_names_a_pass_that_is_wrong_on_a_lower_level(way: list[str], level: str) -> None:
    check = instrument.NumericCheck()
    with pytest.raises(PassError, match=r"\[addf_for_mulf\] changes result #0 of @main from"):
        run(check, [*way, addf_for_mulf, "dce"], static())
    assert check.checked[-1] == way[-1]
    assert any(name.startswith(("topi-", "convert-topi")) for name in check.checked) == (level == "loop")


def test_a_program_that_begins_below_relay() -> None:
    kernel = transform.Sequential(TO_LOOP[:-3])(static())
    check = instrument.NumericCheck()
    run(check, ["loop-apply-schedules"], kernel)
    assert check.checked == ["loop-apply-schedules", "sequential"]
    with pytest.raises(PassError, match=r"\[addf_for_mulf\] changes"):
        run(check, [addf_for_mulf], kernel)


def test_a_wrong_lowering_is_named_with_both_levels() -> None:
    @transform.module_pass(opt_level=0)
    def lower_wrongly(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        lowered = transform.create_pass("convert-relay-to-topi")(mod)
        return replace_each(lowered, arith.MulfOp, lambda op: arith.AddfOp(op.lhs, op.rhs))

    with pytest.raises(PassError, match=r"\[lower_wrongly\] changes result #0 of @main, relay to topi from"):
        run(instrument.NumericCheck(), [*TO_TOPI[:-1], lower_wrongly], static())


@transform.module_pass(opt_level=0)
def nudge(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    """A pass that changes the last places of results."""
    multiply = next(op for op in mod.walk() if isinstance(op, MultiplyOp))
    multiply.operands[1] = relay.const(2.0 * (1 + 2**-20)).value
    constant: Any = multiply.operands[1].owner
    multiply.parent_block().insert_op_before(constant, multiply)  # pyright: ignore
    return mod


@dataclass(frozen=True)
class ExactNudgePass(XRelayPass):
    """A pass that is wrongly declared to be exact."""

    name = "exact-nudge"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        nudge.transform(op, PassContext())


def test_exact_passes_are_held_to_every_bit_and_others_to_rounding() -> None:
    run(instrument.NumericCheck(), [nudge])
    with pytest.raises(PassError, match=r"nudge.*tolerance 0"):
        run(instrument.NumericCheck(rtol=0), [nudge])
    with pytest.raises(PassError, match=r"\[exact-nudge\] .*tolerance 0"):
        run(instrument.NumericCheck(), [XdslPass(ExactNudgePass())])


def test_given_inputs() -> None:
    zeros = np.zeros((2, 3), np.float32)

    @transform.module_pass(opt_level=0)
    def cube(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        multiply = next(op for op in mod.walk() if isinstance(op, MultiplyOp))
        multiply.operands[1] = multiply.operands[0]
        return mod

    run(instrument.NumericCheck(inputs=[zeros]), [cube])
    with pytest.raises(PassError, match=r"cube.*help: the inputs were those given: float32\[2, 3\]"):
        run(instrument.NumericCheck(inputs=[zeros + 1]), [cube])


def test_it_says_what_it_could_not_check() -> None:
    check = instrument.NumericCheck()
    run(check, [*TO_LOOP, "convert-loop-to-scf"], static())
    assert "loop-lower-blocks" in check.checked
    assert [name for name, _ in check.unchecked] == ["convert-loop-to-scf", "sequential"]
    assert all("has no interpreter" in reason for _, reason in check.unchecked)


def test_after_a_pause_the_unchecked_passes_are_suspects_too() -> None:
    @transform.module_pass(opt_level=0)
    def hide(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        for op in mod.body.block.ops:
            op.properties["sym_name"] = type(op.properties["sym_name"])("hidden")  # pyright: ignore
        return add_for_multiply.transform(mod, ctx)

    @transform.module_pass(opt_level=0)
    def show(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        for op in mod.body.block.ops:
            op.properties["sym_name"] = type(op.properties["sym_name"])("main")  # pyright: ignore
        return mod

    with pytest.raises(PassError, match=r"\[show\] or an unchecked pass before it \(hide\) changes result #0"):
        run(instrument.NumericCheck(), [hide, show])


def test_programs_in_one_context_have_nothing_to_do_with_each_other() -> None:
    check = instrument.NumericCheck()
    with PassContext(opt_level=3, instruments=[check]):
        transform.FoldConstant()(small())
        transform.FoldConstant()(static())
    assert check.checked == ["FoldConstant", "FoldConstant"]


def test_every_pass_declares_its_numerics() -> None:
    assert [name for name in ALL_PASSES if numerics_of(load_pass(name)) == UNKNOWN] == []


def test_what_quantises_may_change_integers_by_steps() -> None:
    x = relay.var("x", shape=(64,), dtype="int8")
    floats = relay.qnn.op.dequantize(x, 0.1, 0)
    module = relay.Module.from_expr(relay.qnn.op.quantize(floats * floats, 0.3, 0))
    check = instrument.NumericCheck()
    run(check, ["FakeQuantizationToInteger"], module)
    assert "FakeQuantizationToInteger" in check.checked
    assert describe_difference(np.int8([0, 9]), np.int8([4, 9]), 0.05, 4) is None
    assert "from 0 to 5" in (describe_difference(np.int8([0, 9]), np.int8([5, 9]), 0.05, 4) or "")
    assert "from False to True" in (describe_difference(np.array([False]), np.array([True]), 0.05, 4) or "")


@pytest.mark.parametrize("name", ["FuseOps", "relay-fuse-ops", "cse"])
def test_exact_passes_are_exact_by_every_name(name: str) -> None:
    assert transform.create_pass(name).info.numerics == EXACT


def test_other_passes_are_not_exact() -> None:
    assert transform.AlterOpLayout().info.numerics.rtol > 0
    assert add_for_multiply.info.numerics == UNKNOWN


def test_names_get_sizes_that_the_program_takes() -> None:
    """Extents differ unless the program requires them to be equal."""
    x, y = relay.var("x", shape=("n", 4)), relay.var("y", shape=("m", 4))
    free = relay.Module.from_expr(relay.Function([x, y], relay.Tuple([relay.exp(x), relay.exp(y)])))
    x, y = relay.var("x", shape=("n", 4)), relay.var("y", shape=("m", 4))
    bound = relay.Module.from_expr(relay.Function([x, y], relay.add(x, y)))
    for module, equal in ((free, False), (bound, True)):
        check = instrument.NumericCheck(seed=1)
        run(check, [*TO_LOOP], module)
        assert check.unchecked == []
        assert check._inputs is not None
        first, second = (len(array) for array in check._inputs)
        assert (first == second or 1 in (first, second)) == equal
    with pytest.raises(PassError, match=r"addf_for_mulf\] changes"):
        run(instrument.NumericCheck(), [addf_for_mulf], Sequential(TO_LOOP[:-3])(small()))

"""`same` distinguishes equal from different programs, locates differences, and rejects incomparable programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.levels import run_passes
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.api.comparison import compare_outputs
from xrelay.errors import InputError, InterpreterError
from xrelay.passes.infra.source import full_context, parse_module

TO_TOPI = "relay-infer-type,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi"


def program(body: str, arguments: str = "%x: tensor<2x3xf32>", result: str = "tensor<2x3xf32>") -> ModuleOp:
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\n}}"
    return parse_module(full_context(), text, "test.mlir")


def unary(op: str, shape: str = "2x3") -> ModuleOp:
    type = f"tensor<{shape}xf32>"
    body = f"%y = relay.{op}(%x) : ({type}) -> {type} func.return %y : {type}"
    return program(body, f"%x: {type}", type)


def lowered(module: ModuleOp, passes: str) -> ModuleOp:
    module = module.clone()
    run_passes(module, passes)
    return module


def test_levels_of_one_program_are_the_same() -> None:
    relay = unary("sigmoid")
    topi = lowered(relay, TO_TOPI)
    loop = lowered(topi, "convert-topi-to-loop")
    native = xrelay.compile(relay)
    levels = {xrelay.same(relay, other).levels for other in (relay, topi, loop, native)}
    assert levels == {("relay", level) for level in ("relay", "topi", "loop", "native")}
    assert all(xrelay.same(relay, other) for other in (relay, topi, loop, native))


def test_different_programs_differ_and_it_says_where() -> None:
    x = np.array([[0, 0, 0], [0, -5, 0]], np.float32)
    answer = xrelay.same(unary("nn.relu"), unary("negative"), inputs={"x": x})
    assert not answer
    assert (answer.output, answer.index, answer.values) == ("output0", (1, 1), (0.0, 5.0))
    assert answer.max_abs == 5
    assert "different: relay against relay" in str(answer)
    assert "output0[1, 1]: 0 and 5" in str(answer)


def test_the_same_seed_gives_the_same_inputs() -> None:
    first, second = unary("exp"), unary("negative")
    assert xrelay.same(first, second, seed=1) == xrelay.same(first, second, seed=1)
    assert xrelay.same(first, second, seed=1) != xrelay.same(first, second, seed=2)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (unary("exp", "2x4"), "input 0 ('x') is float32[2, 3] in one program and float32[2, 4]"),
        (
            program("func.return %x : tensor<2x3xf64>", "%x: tensor<2x3xf64>", "tensor<2x3xf64>"),
            "float32[2, 3] in one program and float64[2, 3]",
        ),
        (
            program("func.return %x : tensor<2x3xf32>", "%x: tensor<2x3xf32>, %y: tensor<2x3xf32>"),
            "the programs have 1 and 2 inputs",
        ),
        (
            program(
                "func.return %x, %x : tensor<2x3xf32>, tensor<2x3xf32>",
                result="(tensor<2x3xf32>, tensor<2x3xf32>)",
            ),
            "the programs have 1 and 2 outputs",
        ),
    ],
)
def test_programs_of_different_signatures_are_refused(other: ModuleOp, words: str) -> None:
    with pytest.raises(InputError) as caught:
        xrelay.same(unary("exp"), other)
    assert words in str(caught.value)


def test_open_extents_need_shapes() -> None:
    module = unary("exp", "?x3")
    with pytest.raises(InputError, match="extents"):
        xrelay.same(module, module)
    assert xrelay.same(module, module, shapes={"x": (4, 3)})
    with pytest.raises(InputError, match="contradict"):
        xrelay.same(module, module, shapes={"x": (4, 5)})
    with pytest.raises(InputError, match="shapes names 'z'"):
        xrelay.same(module, module, shapes={"z": (4, 5)})
    # The other program's extents are used as well.
    assert xrelay.same(module, unary("exp"))


def test_named_extents_agree_across_inputs() -> None:
    type = "tensor<?x3xf32, #relay.dims<n>>"
    body = f"%z = relay.add(%x, %y) : ({type}, {type}) -> {type} func.return %z : {type}"
    module = program(body, f"%x: {type}, %y: {type}", type)
    assert xrelay.same(module, module, shapes={"x": (4, 3)})
    assert xrelay.same(module, module)
    with pytest.raises(InputError, match="5 contradicts 4"):
        xrelay.same(module, module, shapes={"x": (4, 3), "y": (5, 3)})


def test_types_that_are_not_known_are_inferred_and_the_module_stays() -> None:
    body = "%y = relay.exp(%x) : (tensor<2x3xf32>) -> !relay.incomplete func.return %y : !relay.incomplete"
    module = program(body, result="!relay.incomplete")
    assert xrelay.same(module, unary("exp"))
    assert "!relay.incomplete" in str(module)


def test_paths_are_programs(tmp_path: Path) -> None:
    text, compiled = tmp_path / "model.mlir", tmp_path / "model.xrelay"
    text.write_text(str(unary("tanh")))
    xrelay.compile(text).save(compiled)
    assert xrelay.same(text, compiled).levels == ("relay", "native")


def test_a_module_below_loop_has_no_interpreter() -> None:
    lower = lowered(unary("exp"), TO_TOPI + ",convert-topi-to-loop,loop-lower-blocks,convert-loop-to-scf")
    with pytest.raises(InputError, match="no interpreter"):
        xrelay.same(lower, lower)


def test_a_function_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"no function @other.*@main"):
        xrelay.same(unary("exp"), unary("exp"), function="other")


def test_wrong_inputs_are_refused() -> None:
    with pytest.raises(InputError, match="'x'"):
        xrelay.same(unary("exp"), unary("exp"), inputs={"x": np.zeros((3, 3), np.float32)})


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("a", "b", "dtype", "equal"),
    [
        ([1, NAN], [1, NAN], "float32", True),
        ([1, NAN], [1, 2], "float32", False),
        ([INF, -INF], [INF, -INF], "float32", True),
        ([INF], [-INF], "float32", False),
        ([INF], [3e38], "float32", False),
        ([1e30, 1], [1e30, 1.0009], "float32", True),
        ([1.0], [1.0009], "float32", True),
        ([1.0], [1.01], "float32", False),
        # The absolute tolerance does not grow with an infinity in the array.
        ([INF, 1.0], [INF, 1.01], "float32", False),
        ([5], [5], "int64", True),
        ([2**62], [2**62 + 1], "int64", False),
        ([1000000], [1000001], "int32", False),
        ([True], [False], "bool", False),
        ([], [], "float32", True),
    ],
)
def test_what_counts_as_equal(a: list[float], b: list[float], dtype: str, equal: bool) -> None:
    first, second = np.array(a, dtype), np.array(b, dtype)
    assert bool(compare_outputs(["y"], [first], [second], levels=("a", "b"))) is equal


ROWS = """%z = relay.add(%x, %y) : (tensor<?x3xf32, #relay.dims<n>>, tensor<?x3xf32, #relay.dims<m>>)
    -> !relay.incomplete func.return %z : !relay.incomplete"""


def test_sizes_that_both_refuse_are_drawn_again() -> None:
    """The extents of one operand must be equal to the other's or 1, which is true of few draws."""
    types = "%x: tensor<?x3xf32, #relay.dims<n>>, %y: tensor<?x3xf32, #relay.dims<m>>"
    module = program(ROWS, types, "!relay.incomplete")
    native = xrelay.compile(module, cache=False)
    assert all(xrelay.same(module, native, seed=seed) for seed in range(4))
    with pytest.raises(InterpreterError, match="broadcastable"):
        xrelay.same(module, native, inputs=[np.zeros((3, 3), np.float32), np.zeros((2, 3), np.float32)])


def test_given_arrays_tell_the_sizes_of_names() -> None:
    type = "tensor<?x3xf32, #relay.dims<n>>"
    module = program(f"%y = relay.exp(%x) : ({type}) -> {type} func.return %y : {type}", f"%x: {type}", type)
    for rows in (0, 1, 11):
        assert xrelay.same(module, module, inputs={"x": np.ones((rows, 3), np.float32)})


LISTS = """
func.func @main(%s: !relay.sequence<tensor<?xf32>>, %o: !relay.optional<tensor<2xi64>>, %x: tensor<3xf32>)
    -> (!relay.sequence<tensor<?xf32>>, !relay.optional<tensor<2xi64>>, tensor<i64>) {
  %t = relay.sequence_insert(%s, %x) : (!relay.sequence<tensor<?xf32>>, tensor<3xf32>) -> !relay.sequence<tensor<?xf32>>
  %n = relay.sequence_length(%t) : (!relay.sequence<tensor<?xf32>>) -> tensor<i64>
  func.return %t, %o, %n : !relay.sequence<tensor<?xf32>>, !relay.optional<tensor<2xi64>>, tensor<i64>
}
"""


def test_sequences_and_optionals_are_compared_value_by_value() -> None:
    module = xrelay.parse(LISTS)
    model = xrelay.compile(module, cache=False, threads=1)
    topi, loop = module.clone(), module.clone()
    run_passes(topi, "relay-infer-type,relay-outline-fused,convert-relay-to-topi")
    run_passes(loop, "relay-infer-type,relay-outline-fused,convert-relay-to-topi,convert-topi-to-loop")
    x, held = np.ones(3, np.float32), [np.zeros(2, np.float32)]
    for other in (model, topi, loop):
        for seed in range(2):
            assert xrelay.same(other, module, seed=seed)
        answer = xrelay.same(other, module, inputs=[held, None, x])
        assert (answer.equal, answer.output) == (True, "output0[0]")
        with pytest.raises(InputError, match=r"'s': expected sequence\(float32\[\?\]\), got ndarray"):
            xrelay.same(other, module, inputs=[x, None, x])
    for found in (xrelay.interpret(each, [held, None, x]) for each in (module, topi, loop)):
        assert [each.tolist() for each in found[0]] == [[0, 0], [1, 1, 1]]
        assert (found[1], int(found[2])) == (None, 2)
    shorter = xrelay.parse(LISTS.replace("return %t", "return %s"))
    with pytest.raises(InputError, match=r"in only one of the results"):
        xrelay.same(shorter, module, inputs=[held, None, x])
    with pytest.raises(InputError, match=r"input 1 \('o'\) is sequence\(int64\[2\]\) in one program and"):
        xrelay.same(xrelay.parse(LISTS.replace("optional<tensor<2xi64", "sequence<tensor<2xi64")), module)


def test_sizes_are_those_that_are_said() -> None:
    text = """
    func.func @main(%x: tensor<?x2xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<n>> {
      %y = relay.exp(%x) : (tensor<?x2xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<n>>
      func.return %y : tensor<?x2xf32, #relay.dims<n>>
    }"""
    module = xrelay.parse(text)
    assert xrelay.same(module, module, shapes={"n": (40, 50, 45)})
    with pytest.raises(InterpreterError, match="@main requires n in 2 to 4, got 5"):
        xrelay.interpret(module, [np.ones((5, 2), np.float32)], shapes={"n": (2, 4, 3)})
    with pytest.raises(InputError, match=r"the sizes of n are \[8, 9\], not one or three numbers"):
        xrelay.same(module, module, shapes={"n": (8, 9)})

"""Ifs whose results differ in rank, as in PyTorch's `squeeze`, and branches that do not fit the types."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper
from support.onnx_models import model, value
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.api.graph_module import GraphModule
from xrelay.dialects.relay.structure.containers import FailOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.errors import ExecutionError, InterpreterError, ModelImportError
from xrelay.frontend.onnx import import_onnx, node_list
from xrelay.frontend.onnx.converters.tensor import shape as shape_converters
from xrelay.interpreters.relay import run_relay
from xrelay.tools.commands.coverage import summarize

X = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
ONE = np.ascontiguousarray(X[..., :1])
INPUT = value("x", (2, 4, "n"))
CONSTANTS = {"last": np.array([-1]), "one": np.array([1]), "w": np.ones((4, 5), np.float32)}
BOOL, I64 = TensorProto.BOOL, TensorProto.INT64
make = helper.make_node


def body(nodes: list[NodeProto], outputs: list[str], inputs: tuple[str, ...] = ()) -> GraphProto:
    """A graph without types of inputs and outputs."""
    given, made = ([helper.make_empty_tensor_value_info(name) for name in names] for names in (inputs, outputs))
    return helper.make_graph(nodes, "body", given, made)


def squeeze(data: str, result: str) -> list[NodeProto]:
    """The nodes of PyTorch's `squeeze(-1)`."""
    then = body([make("Squeeze", [data, "last"], ["t"])], ["t"])
    other = body([make("Identity", [data], ["t"])], ["t"])
    names = [f"{result}.{part}" for part in ("shape", "extent", "is_one")]
    return [
        make("Shape", [data], [names[0]]),
        make("Gather", [names[0], "last"], [names[1]]),
        make("Equal", [names[1], "one"], [names[2]]),
        make("If", [names[2]], [result], name=f"If {result}", then_branch=then, else_branch=other),
    ]


def network(*nodes: NodeProto, inputs: tuple[onnx.ValueInfoProto, ...] = (), outputs: tuple[str, ...] = ("y",)) -> Any:
    return model(list(nodes), [INPUT, *inputs], list(outputs), initializers=CONSTANTS)


@lru_cache(maxsize=1)
def forms(text: bytes) -> tuple[ModuleOp, xrelay.CompiledModel]:
    """The program of a model and its native code; one model runs on several inputs."""
    proto = onnx.load_from_string(text)
    return import_onnx(proto), xrelay.compile(proto, cache=False)


def check(proto: onnx.ModelProto, given: list[Any], *wanted: Any) -> None:
    module, native = forms(proto.SerializeToString())
    for found in (run_relay(module, given), native.run(given)):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
            assert one.shape == np.shape(other)


def ops(proto: onnx.ModelProto, kind: type) -> list[Any]:
    return [op for op in import_onnx(proto).walk() if isinstance(op, kind)]


def test_an_output_of_either_rank(tmp_path: Any) -> None:
    proto = network(*squeeze("x", "y"))
    check(proto, [X], X)
    check(proto, [ONE], ONE[..., 0])
    compiled = xrelay.compile(proto)
    assert str(compiled.outputs[0]) == "optional(float32[*])"
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    assert summarize(tmp_path / "model.onnx").outputs == ["y: optional(float32[*])"]
    compiled.save(tmp_path / "model.xrelay")
    module = GraphModule(xrelay.load(tmp_path / "model.xrelay"))
    module.run(x=ONE)
    np.testing.assert_array_equal(module.get_output(0), ONE[..., 0])


def test_known_extents_leave_no_branch() -> None:
    proto = network(*squeeze("x", "y"))
    for array in (X, ONE):
        module = import_onnx(proto, shapes={"x": array.shape})
        assert not [op for op in module.walk() if isinstance(op, IfOp)]
        np.testing.assert_array_equal(run_relay(module, [array])[0], array if array is X else array[..., 0])


def test_users_are_moved_until_the_ranks_agree() -> None:
    most, relu = make("ReduceMax", ["q"], ["m"], keepdims=0), make("Relu", ["m"], ["y"])
    proto = network(*squeeze("x", "q"), make("Neg", ["q"], ["unused"]), most, relu)
    check(proto, [X], 23)
    check(proto, [ONE], 21)
    (branch,) = ops(proto, IfOp)
    assert str(branch.result.type) == "tensor<f32>"
    assert "relay.nn.relu" not in str(branch)


def test_what_is_read_inside_and_outside() -> None:
    """`t` has one rank and its user has several, `u` is an output of several ranks, and names are reused."""
    nodes = [make("ReduceMean", ["q"], ["m"], keepdims=0), make("Relu", ["m"], ["t"]), make("Add", ["q", "t"], ["u"]),
             make("ReduceMax", ["u"], ["v"], keepdims=0), make("Mul", ["v", "t"], ["y"])]  # fmt: skip
    proto = network(*squeeze("x", "q"), *nodes, outputs=("y", "u"))
    for array in (X, ONE):
        mean = array.mean()
        check(proto, [array], (array.max() + mean) * mean, (array if array is X else array[..., 0]) + mean)


def test_two_in_a_row_and_two_that_meet() -> None:
    proto = network(*squeeze("x", "q"), *squeeze("q", "r"), make("Neg", ["r"], ["y"]))
    check(proto, [ONE], -ONE[..., 0])
    check(proto, [X], -X)
    both = network(*squeeze("x", "q"), *squeeze("z", "r"), make("Mul", ["q", "r"], ["m"]),
                   make("ReduceSum", ["m"], ["y"], keepdims=0), inputs=(value("z", (2, 4, "n")),))  # fmt: skip
    for array in (X, ONE):
        check(both, [array, array], (array * array).sum())


@pytest.mark.parametrize("known", [True, False])
def test_a_branch_that_gives_one(known: bool) -> None:
    """Its users are moved into the branches of the inner If."""
    other = body([make("ReduceMax", ["x"], ["t"], keepdims=0)], ["t"])
    node = make("If", ["c"], ["q"], then_branch=body(squeeze("x", "t"), ["t"]), else_branch=other)
    users = [make("Exp", ["q"], ["y"]), make("ReduceSum", ["y"], ["z"], keepdims=0)]
    proto = network(node, *users, inputs=() if known else (value("c", (), BOOL),), outputs=("y", "z"))
    if known:
        proto.graph.initializer.append(helper.make_tensor("c", BOOL, (), [True]))
    for array in (X / 9, ONE / 9):
        exp = np.exp(array if array.shape == X.shape else array[..., 0])
        check(proto, [array] if known else [array, np.array(True)], exp, exp.sum())
        if not known:
            check(proto, [array, np.array(False)], np.exp(array.max()), np.exp(array.max()))


@pytest.mark.parametrize("opset", [17, 13])
def test_a_function_that_gives_one(opset: int) -> None:
    """Its nodes are converted as nodes of the caller, which must have the same opset."""
    constants = [make("Constant", [], [name], value_ints=[number]) for name, number in (("last", -1), ("one", 1))]
    opsets = [helper.make_opsetid("", opset)]
    function = helper.make_function("mine", "squeezed", ["data"], ["q"], [*constants, *squeeze("data", "q")], opsets)
    proto = network(make("squeezed", ["x"], ["q"], domain="mine"), make("Neg", ["q"], ["y"]))
    proto.functions.append(function)
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    if opset == 17:
        check(proto, [X], -X)
        check(proto, [ONE], -ONE[..., 0])
    else:
        with pytest.raises(ModelImportError, match="the function 'squeezed': 'q' is one of tensor<2x4xf32> and"):
            import_onnx(proto)


def test_branches_of_branches_that_do_not_fit() -> None:
    """A nested If and Loop with nodes that fit only one rank leave no ops of the other rank behind."""
    branches = {
        name: body([make("Exp", ["r"], ["e"]), make("Gemm", ["e", "w"], ["t"])], ["t"])
        for name in ("then_branch", "else_branch")
    }
    choice = make("If", ["c"], ["g"])
    choice.attribute.extend(helper.make_attribute(name, graph) for name, graph in branches.items())
    nodes = [
        make("Identity", ["going"], ["on"]),
        make("Exp", ["r"], ["e"]),
        make("Gemm", ["e", "w"], ["h"]),
        make("Add", ["s", "h"], ["next"]),
    ]
    loop = make("Loop", ["k", "", "z"], ["y"], body=body(nodes, ["on", "next"], ("i", "going", "s")))
    relu = make("Relu", ["q"], ["r"])
    flag, count, start = value("c", (), BOOL), value("k", (), I64), value("z", (2, 5))
    product = np.exp(ONE[..., 0] / 9) @ CONSTANTS["w"]
    first = network(*squeeze("x", "q"), relu, choice, make("Relu", ["g"], ["y"]), inputs=(flag,))
    check(first, [ONE / 9, np.array(True)], product)
    zero = np.zeros((2, 5), np.float32)
    second = network(*squeeze("x", "q"), relu, loop, inputs=(count, start))
    check(second, [ONE * 0, np.array(2), zero], zero + 8)
    for module in (import_onnx(first), import_onnx(second)):
        uses = [use for op in module.walk() for result in op.results for use in result.uses]
        assert all(use.operation.get_toplevel_object() is module for use in uses)


def test_bodies_that_hold_and_read_one() -> None:
    """The body of a loop has an If of two ranks and reads the result of another one."""
    nodes = [make("Identity", ["going"], ["on"]), *squeeze("s", "r"), make("ReduceMax", ["r"], ["m"], keepdims=0),
             make("ReduceMin", ["q"], ["least"], keepdims=0), make("Sub", ["m", "least"], ["d"]),
             make("Add", ["s", "d"], ["next"])]  # fmt: skip
    loop = make("Loop", ["k", "", "x"], ["y"], body=body(nodes, ["on", "next"], ("i", "going", "s")))
    proto = network(*squeeze("x", "q"), loop, inputs=(value("k", (), I64),))
    for array in (X, ONE):
        first = array + array.max()
        check(proto, [array, np.array(2)], first + first.max())


def test_a_branch_that_does_not_fit_fails_when_it_is_taken() -> None:
    proto = network(*squeeze("x", "q"), make("Gemm", ["q", "w"], ["g"], name="gemm"), make("Relu", ["g"], ["y"]))
    check(proto, [ONE], ONE[..., 0] @ CONSTANTS["w"])
    assert len(ops(proto, FailOp)) == 1
    words = r"node 'gemm' \(Gemm, opset 17\): .*ranks 3 and 2"
    with pytest.raises(ExecutionError, match=words):
        xrelay.compile(proto).run([X])
    with pytest.raises(InterpreterError, match=words):
        run_relay(import_onnx(proto), [X])


def test_a_body_that_does_not_fit_fails_when_it_is_taken() -> None:
    branches = [
        body([make("ReduceMax", ["x"], ["t"], keepdims=0)], ["t"]),
        body([make("MatMul", ["x", "x"], ["t"])], ["t"]),
    ]
    node = make("If", ["c"], ["y"], name="if", then_branch=branches[0], else_branch=branches[1])
    proto = model([node], [value("x", (2, 4, 3)), value("c", (), BOOL)], ["y"])
    check(proto, [X, np.array(True)], 23)
    with pytest.raises(InterpreterError, match=r"node 't' \(MatMul"):
        run_relay(import_onnx(proto), [X, np.array(False)])
    for attribute in proto.graph.node[0].attribute:
        attribute.g.CopyFrom(branches[1])
    with pytest.raises(ModelImportError, match=r"^node 't' \(MatMul"):
        import_onnx(proto)


def test_what_no_run_takes_is_an_error_of_the_import() -> None:
    unknown = network(*squeeze("x", "q"), make("Nothing", ["q"], ["y"]))
    with pytest.raises(ModelImportError, match=r"1 node is not supported: node 'y' .*no converter for this op"):
        import_onnx(unknown)
    with pytest.raises(ModelImportError, match="input 'gone'"):
        import_onnx(network(*squeeze("x", "q"), make("Add", ["q", "gone"], ["y"])))
    with pytest.raises(ModelImportError, match=r"^node 'y' \(Gemm, opset 17\): Gemm of ranks 4 and 4"):
        import_onnx(
            network(*squeeze("x", "q"), make("Unsqueeze", ["q", "one"], ["u"]), make("Gemm", ["u", "u"], ["y"]))
        )


def test_a_carried_value_keeps_its_rank() -> None:
    nodes = [make("Identity", ["going"], ["on"]), *squeeze("s", "next")]
    loop = make("Loop", ["k", "", "x"], ["y"], body=body(nodes, ["on", "next"], ("i", "going", "s")))
    with pytest.raises(
        ModelImportError, match=r"attribute 'body': 'next' is one of tensor<2x4xf32> and tensor<2x4x\?xf32"
    ):
        import_onnx(network(loop, inputs=(value("k", (), I64),)))


def test_many_ifs_in_a_row_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["x", *(f"q{i}" for i in range(20))]
    chain = [node for one, other in pairwise(names) for node in squeeze(one, other)]
    proto = model(chain, [value("x", [f"d{i}" for i in range(21)])], [names[-1]], initializers=CONSTANTS)
    monkeypatch.setattr(node_list, "MAX_MOVED", 100)
    with pytest.raises(ModelImportError, match=r"used by more than 100 nodes in their branches; help: fix the input"):
        import_onnx(proto)


@pytest.mark.parametrize("opset", [11, 13])
def test_squeeze_of_open_extents_without_axes(opset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes of extent 1 are removed, whether the extent is known at import or at run time."""
    node, relu = make("Squeeze", ["x"], ["q"]), make("Relu", ["q"], ["y"])
    proto = model([node, relu], [value("x", ("b", 1, "n"))], ["y"], opset=opset)
    for shape in ((2, 1, 3), (1, 1, 3), (2, 1, 1), (1, 1, 1), (0, 1, 3)):
        array = np.ones(shape, np.float32)
        check(proto, [array], array.squeeze())
    monkeypatch.setattr(shape_converters, "MAX_OPEN", 1)
    with pytest.raises(ModelImportError, match="2 open extents, at most 1 may be open; help: name the axes"):
        import_onnx(proto)

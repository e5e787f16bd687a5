"""`xrelay.onnx_backend`: onnx's own tests run against it unchanged, and it conforms to the backend interface.

`make test` runs one in six hundred of onnx's tests, `make test-all` all of them.
"""

from __future__ import annotations

import unittest
from functools import cache
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.base import BackendRep
from onnx.backend.test import BackendTest
from onnx_backend.conformance import case_set
from onnx_backend.test_node_cases import CANCELLED
from support.onnx_node_cases import official_cases

from xrelay import onnx_backend
from xrelay.errors import InputError, ModelImportError

SUFFIX = "_cpu"
MUST_RUN = frozenset(case_set("tier1"))
MAY_REFUSE = frozenset(case_set("tier4"))


@cache
def official_tests() -> dict[str, unittest.TestCase]:
    """onnx's tests for the CPU by the name of their case."""
    official_cases()  # collects the cases without the work for onnx's documentation
    classes = BackendTest(cast(Any, onnx_backend), __name__).test_cases.values()
    found = [kind(name) for kind in classes for name in dir(kind) if name.startswith("test_")]
    tests = {test.id().rpartition(".")[2]: test for test in found}
    return {name.removesuffix(SUFFIX): test for name, test in sorted(tests.items()) if name.endswith(SUFFIX)}


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The reasons for which models were rejected: onnx's tests discard them."""
    reasons: list[str] = []
    prepare = onnx_backend.prepare

    def noting(*args: Any, **kwargs: Any) -> BackendRep:
        try:
            return prepare(*args, **kwargs)
        except onnx_backend.RefusedModelError as error:
            reasons.append(str(error))
            raise

    monkeypatch.setattr(onnx_backend, "prepare", noting)
    monkeypatch.setenv("ONNX_MODELS", str(tmp_path))  # onnx writes the outputs of its networks there
    return reasons


@pytest.mark.filterwarnings("ignore")
@pytest.mark.grid(600)
@pytest.mark.parametrize("name", official_tests())
def test_official(name: str, refused: list[str]) -> None:
    result = unittest.TestResult()
    official_tests()[name].run(result)
    assert not result.errors, result.errors[0][1]
    assert not result.failures or name in CANCELLED, result.failures[0][1]
    assert not (refused or result.skipped) or name not in MUST_RUN
    assert not result.skipped or name in MAY_REFUSE


def model_of(*nodes: onnx.NodeProto, outputs: list[onnx.ValueInfoProto], elem: int = TensorProto.FLOAT) -> Any:
    inputs = [helper.make_tensor_value_info(name, elem, [2]) for name in ("a", "b")]
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(helper.make_graph([*nodes], "g", inputs, outputs), opset_imports=opsets, ir_version=8)


def tensor(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


A, B = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
ADD = model_of(helper.make_node("Add", ["a", "b"], ["1"]), outputs=[tensor("1")])


def test_results_are_in_order_and_by_name() -> None:
    rep = onnx_backend.prepare(ADD, "CPU:0", opt_level=1, threads=1, cache=False, rtol=1e-3)
    assert isinstance(rep, BackendRep)
    for inputs in ([A, B], (A, B), {"b": B, "a": A}):
        found: Any = rep.run(inputs)
        assert len(found) == 1
        assert found[0] is found["1"]
        np.testing.assert_array_equal(found[0], [4, 6])
    np.testing.assert_array_equal(onnx_backend.run_model(ADD, [A, B])[0], [4, 6])


def test_sequences_are_lists_whether_their_length_is_known_or_not() -> None:
    nodes = [
        helper.make_node("SequenceConstruct", ["a", "b"], ["s"]),
        helper.make_node("SequenceConstruct", ["a"], ["t"]),
        helper.make_node("SequenceEmpty", [], ["u"]),
        helper.make_node("Optional", ["s"], ["o"]),
        helper.make_node("Optional", [], ["n"], type=helper.make_tensor_type_proto(TensorProto.FLOAT, [2])),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    kinds = {name: helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None) for name in "stu"}
    none = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2]))
    sequence = helper.make_optional_type_proto(kinds["s"].type)
    outputs = [helper.make_value_info("o", sequence), *kinds.values(), helper.make_value_info("n", none), tensor("y")]
    found: Any = onnx_backend.run_model(model_of(*nodes, outputs=outputs), [A, B])
    assert [np.shape(held) for held in (found["s"], found["t"], found["o"])] == [(2, 2), (1, 2), (2, 2)]
    assert (found["u"], found["n"]) == ([], None)
    np.testing.assert_array_equal(found["y"], [4, 6])


@pytest.mark.parametrize(
    ("node", "inputs", "info", "expected"),
    [
        (helper.make_node("Relu", ["x"], ["y"]), np.array([-1, 2], np.float32), None, [0, 2]),
        (helper.make_node("Add", ["x", "x"], ["y"]), [A, A], [(np.float32, (2,))], [2, 4]),
        (helper.make_node("Clip", ["x", "", "h"], ["y"]), [A, np.float32(1.5)], None, [1, 1.5]),
        (helper.make_node("Neg", ["x"], ["y"]), [A.astype(ml_dtypes.bfloat16)], None, [-1, -2]),
        (helper.make_node("ConcatFromSequence", ["x"], ["y"], axis=0), [[A, B]], None, [1, 2, 3, 4]),
        (helper.make_node("ConcatFromSequence", ["x"], ["y"], axis=0), [[A, B[:1]]], None, [1, 2, 3]),
        (helper.make_node("RandomUniformLike", ["x"], ["y"]), [A], None, None),
    ],
    ids=lambda value: getattr(value, "op_type", ""),
)
def test_a_node_alone(node: onnx.NodeProto, inputs: Any, info: Any, expected: list[float] | None) -> None:
    if expected is None:
        with pytest.raises(onnx_backend.RefusedModelError, match=r"random.*numbers.*only.*inside"):
            onnx_backend.run_node(node, inputs)
        return
    (found,) = onnx_backend.run_node(node, inputs, "CPU", info)
    np.testing.assert_array_equal(found.astype(np.float32), expected)


def test_a_node_of_an_older_opset() -> None:
    node = helper.make_node("Squeeze", ["x"], ["y"], axes=[0])
    found = onnx_backend.run_node(node, [A.reshape(1, 2)], opset_version=11)
    np.testing.assert_array_equal(found[0], A)
    with pytest.raises(ModelImportError, match="axes") as caught:
        onnx_backend.run_node(node, [A.reshape(1, 2)])
    assert not isinstance(caught.value, onnx_backend.RefusedModelError)


def test_what_is_refused_and_what_is_wrong() -> None:
    strings = helper.make_node("StringConcat", ["a", "b"], ["1"])
    texts = helper.make_tensor_value_info("1", TensorProto.STRING, [2])
    refused = model_of(strings, outputs=[texts], elem=TensorProto.STRING)
    refused.opset_import[0].version = 20
    assert onnx_backend.is_compatible(ADD)
    assert not onnx_backend.is_compatible(ADD, "CUDA")
    assert not onnx_backend.is_compatible(refused)
    with pytest.raises(unittest.SkipTest, match="element type STRING is not supported"):
        onnx_backend.prepare(refused)
    broken = model_of(helper.make_node("Add", ["a", "nowhere"], ["1"]), outputs=[tensor("1")])
    with pytest.raises(ModelImportError, match="'nowhere'") as caught:
        onnx_backend.prepare(broken)
    assert not isinstance(caught.value, unittest.SkipTest)


def test_inputs_that_the_model_leaves_out() -> None:
    source = model_of(helper.make_node("Relu", ["b"], ["1"]), outputs=[tensor("1")])
    source.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
    rep = onnx_backend.prepare(source)
    for inputs in ([np.array(["u", "v"]), B], {"a": None, "b": B}, {"b": B}):
        np.testing.assert_array_equal(rep.run(inputs)[0], B)


@pytest.mark.parametrize("device", ["CUDA", "CUDA:0", "CPU:1", "cpu", ""])
def test_the_cpu_is_the_only_device(device: str) -> None:
    assert not onnx_backend.supports_device(device)
    with pytest.raises(InputError, match=rf"device '{device}'; help: .*'CPU'"):
        onnx_backend.prepare(ADD, device)


def test_wrong_calls() -> None:
    with pytest.raises(InputError, match="option 'opt_levl'; help: did you mean 'opt_level'"):
        onnx_backend.prepare(ADD, opt_levl=1)
    with pytest.raises(InputError, match="expected 2 inputs"):
        onnx_backend.run_model(ADD, A)
    with pytest.raises(InputError, match="the node Add has 2 inputs \\(x, y\\), got 1"):
        onnx_backend.run_node(helper.make_node("Add", ["x", "y"], ["z"]), [A])
    with pytest.raises(InputError, match=r"type of an empty list"):
        onnx_backend.run_node(helper.make_node("SequenceLength", ["x"], ["z"]), [[]])

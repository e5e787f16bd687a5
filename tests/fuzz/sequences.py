"""Random chains of ONNX's sequence nodes: compares native code and onnxruntime with the interpreter.

Positions are inputs, so some are out of range: then all engines fail.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper

import xrelay
from fuzz.engines import outcomes
from fuzz.finding import Finding
from fuzz.nodes import files
from fuzz.onnx_oracles import onnxruntime_outputs
from fuzz.special_values import Array
from xrelay.errors import LoweringError, ModelImportError
from xrelay.frontend.onnx import import_onnx

TENSORS, PLACES = ("a", "b", "c"), ("i", "j")


def run_case(seed: int) -> None:
    """Runs one chain at two sizes of its inputs."""
    rng = np.random.default_rng(seed)
    model = random_chain(rng)
    try:
        module = import_onnx(model)
        compiled = xrelay.compile(model, opt_level=int(rng.integers(4)), threads=1, cache=False)
    except (ModelImportError, LoweringError):
        return
    for _ in range(2):
        inputs = random_inputs(rng)
        found, expected = outcomes(module, compiled, inputs)
        if problem := difference(found, expected):
            raise Finding("native code departs from the interpreter", problem, files(model, inputs))
        # onnx's own reference inserts at positions that are out of range, and modifies its input sequence; onnxruntime
        # concatenates values of different extents along the axis, or without rows.
        joins = model.graph.node[-1].op_type == "ConcatFromSequence"
        wanted = None if isinstance(expected, str) and joins else onnxruntime_outputs(model, inputs)
        if wanted is not None and (problem := difference(expected, wanted)):
            raise Finding("the interpreter departs from onnxruntime", problem, files(model, inputs))


def random_chain(rng: np.random.Generator) -> onnx.ModelProto:
    """A sequence that is made, changed up to four times, and read; the number of rows may vary."""
    nodes = [_first(rng)]
    for number in range(int(rng.integers(5))):
        nodes.append(_change(rng, nodes[-1].output[0], f"s{number}"))
    last = nodes[-1].output[0]
    reads = [
        helper.make_node("SequenceAt", [last, _pick(rng, PLACES)], ["y"]),
        helper.make_node("ConcatFromSequence", [last], ["y"], axis=0),
        helper.make_node("ConcatFromSequence", [last], ["y"], axis=-1, new_axis=1),
        helper.make_node("SequenceLength", [last], ["y"]),
        helper.make_node("SequenceAt", [last, _pick(rng, PLACES)], ["y"]),
    ]
    nodes.append(reads[int(rng.integers(len(reads)))])
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"n_{name}", 2]) for name in TENSORS]
    places = [helper.make_tensor_value_info(name, TensorProto.INT64, []) for name in PLACES]
    graph = helper.make_graph(nodes, "chain", [*tensors, *places], [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def random_inputs(rng: np.random.Generator) -> dict[str, Array]:
    """Tensors with 0 or more rows, and positions before, within and after short sequences."""
    same = int(rng.integers(4)) if rng.random() < 0.5 else None
    tensors = {name: rng.integers(-9, 9, (int(rng.integers(4)) if same is None else same, 2)) for name in TENSORS}
    places = {name: np.array(rng.integers(-3, 4)) for name in PLACES}
    return {name: array.astype(np.float32) for name, array in tensors.items()} | places


def _pick(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    return names[int(rng.integers(len(names)))]


def _first(rng: np.random.Generator) -> NodeProto:
    kind = int(rng.integers(4))
    if kind == 0:
        return helper.make_node("SequenceEmpty", [], ["s"])
    if kind == 1:
        return helper.make_node("SplitToSequence", [_pick(rng, TENSORS)], ["s"], axis=int(rng.integers(2)))
    names = [_pick(rng, TENSORS) for _ in range(1 + int(rng.integers(3)))]
    return helper.make_node("SequenceConstruct", names, ["s"])


def _change(rng: np.random.Generator, given: str, result: str) -> NodeProto:
    kind, place = int(rng.integers(5)), [_pick(rng, PLACES)] if rng.random() < 0.6 else []
    if kind == 0:
        return helper.make_node("SequenceErase", [given, *place], [result])
    return helper.make_node("SequenceInsert", [given, _pick(rng, TENSORS), *place], [result])


def difference(found: object, expected: object) -> str:
    """Describes how two lists of values, or error messages, differ; empty if they agree."""
    if isinstance(found, str) or isinstance(expected, str):
        both = isinstance(found, str) and isinstance(expected, str)
        return "" if both else f"{found} is not {expected}"
    assert isinstance(found, list | tuple)
    assert isinstance(expected, list | tuple)
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(ours, list | tuple):
            if problem := difference(ours, theirs):
                return problem
        elif np.shape(ours) != np.shape(theirs) or not np.array_equal(ours, theirs):
            return (
                f"{np.shape(ours)} {np.asarray(ours).tolist()} is not {np.shape(theirs)} {np.asarray(theirs).tolist()}"
            )
    return ""

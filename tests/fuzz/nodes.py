"""Single nodes of every registered operator: compares the interpreter with onnxruntime and native code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO

import numpy as np
import onnx

from fuzz.agreement import disagreement, disturbed, excused
from fuzz.engines import TARGETS, interpret, interpret_rounded, native
from fuzz.finding import Finding
from fuzz.onnx_nodes import random_inputs, random_node_model
from fuzz.onnx_oracles import difference, onnxruntime_departs, onnxruntime_outputs
from fuzz.special_values import Array
from xrelay.errors import ExecutionError, InputError, InterpreterError


def run_case(seed: int) -> None:
    """Runs one node."""
    rng = np.random.default_rng(seed)
    model = random_node_model(rng)
    inputs = random_inputs(rng, model, special=bool(rng.random() < 0.5))
    expected = interpreted(rng, model, inputs)
    if expected is None:
        return
    if onnxruntime_departs(model, inputs) is None:
        check_onnxruntime(model, inputs, expected)
    check_native(rng, model, inputs, expected)


def interpreted(
    rng: np.random.Generator, model: onnx.ModelProto, inputs: Mapping[str, Array]
) -> Sequence[Array] | None:
    """Returns the interpreter's outputs; None if the interpreter fails and native code fails too or is unavailable."""
    try:
        return interpret(model, inputs)
    except InterpreterError as error:
        try:
            found = native(model, inputs, *_target(rng))
        except (ExecutionError, InputError):
            return None
        if found is None:
            return None
        raise Finding("only the interpreter fails", str(error), files(model, inputs)) from error


def check_onnxruntime(model: onnx.ModelProto, inputs: Mapping[str, Array], expected: Sequence[Array]) -> None:
    """Compares the interpreter with onnxruntime, if onnxruntime supports the model; raises `Finding`."""
    theirs = onnxruntime_outputs(model, inputs)
    op = model.graph.node[0].op_type
    problem = None if theirs is None else difference(op, expected, theirs)
    if problem is not None:
        raise Finding(f"{op}: the interpreter departs from onnxruntime", problem, files(model, inputs))


def check_native(
    rng: np.random.Generator, model: onnx.ModelProto, inputs: Mapping[str, Array], expected: Sequence[Array]
) -> None:
    """Compares native code for a random CPU and level with the interpreter; raises `Finding`.

    A difference is excused if small changes of the inputs, or of intermediate roundings, change the results as much.
    """
    target, level = _target(rng)
    found = native(model, inputs, target, level)
    if found is None:
        return
    names = [output.name for output in model.graph.output]
    problem = disagreement(names, found, expected, f"{target} at level {level}")
    if problem and not excused(
        found,
        expected,
        lambda k: interpret(model, _disturbed(inputs, k)),
        lambda k: interpret_rounded(model, inputs, k),
    ):
        ops = "+".join(sorted({node.op_type for node in model.graph.node}))
        kind = ops if len(model.graph.node) == 1 else "graph"
        raise Finding(f"{kind}: native code departs from the interpreter", problem, files(model, inputs))


def _target(rng: np.random.Generator) -> tuple[str, int]:
    """A random CPU and opt_level."""
    return TARGETS[int(rng.integers(len(TARGETS)))], int(rng.integers(4))


def files(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, bytes]:
    """The model and its inputs as files."""
    kept = {"model.onnx": model.SerializeToString(), "model.txt": onnx.printer.to_text(model).encode()}
    return kept | {f"input_{number}.npy": _npy(array) for number, array in enumerate(inputs.values())}


def _npy(array: Array) -> bytes:
    stream = BytesIO()
    np.save(stream, array.view(np.uint16) if array.dtype.kind == "V" else array)
    return stream.getvalue()


def _disturbed(inputs: Mapping[str, Array], k: int) -> dict[str, Array]:
    rng = np.random.default_rng(k)
    return {name: disturbed(rng, array) for name, array in inputs.items()}

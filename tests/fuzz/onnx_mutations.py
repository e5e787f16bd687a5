"""Damages ONNX models: their bytes, or the contents of the protobuf.

    data = mutated_bytes(rng, model.SerializeToString())
    model = mutated_model(rng, model)

The importer must accept each or reject it with an error of one line: no traceback, no hang, no huge allocation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from xrelay.frontend.onnx.registry import registered_converters

HUGE = (2**31, 2**40, 2**62, 2**63 - 1)
ODD_INTEGERS = (-(2**63), 2**63 - 1, -(2**31), 2**31, 2**40, -1, 0, 1, 7, -7, 100)
ODD_FLOATS = (float("inf"), float("-inf"), float("nan"), 0.0, -1.0, 3.4e38, 1e-45)
ODD_NAMES = ("", " ", "a\nb", "x0", "y0", "%0", "\x00", "é", "n" * 1023 + "ab", "n" * 1023 + "cd", "../x", '"')

Mutation = Callable[[np.random.Generator, onnx.ModelProto], None]


def mutated_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """Returns `data` with up to eight bytes changed, inserted or deleted."""
    result = bytearray(data)
    for _ in range(int(rng.choice((1, 2, 8)))):
        place = int(rng.integers(len(result))) if result else 0
        count = int(rng.choice((1, 8)))
        match int(rng.integers(3)):
            case 0 if result:
                result[place] = int(rng.integers(256))
            case 1:
                del result[place : place + count]
            case _:
                result[place:place] = rng.bytes(count)
    return bytes(result)


def mutated_model(rng: np.random.Generator, model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy of `model` with up to three edits."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for _ in range(int(rng.integers(1, 4))):
        MUTATIONS[int(rng.integers(len(MUTATIONS)))](rng, result)
    return result


def _node(rng: np.random.Generator, model: onnx.ModelProto) -> onnx.NodeProto:
    nodes = model.graph.node
    return nodes[int(rng.integers(len(nodes)))] if nodes else nodes.add()


def _tensor(rng: np.random.Generator, model: onnx.ModelProto) -> onnx.TensorProto:
    tensors = model.graph.initializer
    return tensors[int(rng.integers(len(tensors)))] if tensors else tensors.add()


def _pick(rng: np.random.Generator, *items: object) -> object:
    return items[int(rng.integers(len(items)))]


def _odd_name(rng: np.random.Generator) -> str:
    return str(_pick(rng, *ODD_NAMES))


def change_an_input(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    names = [*node.input, *node.output, "nowhere", *ODD_NAMES]
    if node.input and rng.random() < 0.7:
        node.input[int(rng.integers(len(node.input)))] = str(_pick(rng, *names))
    else:
        node.input.append(str(_pick(rng, *names)))


def drop_inputs_or_outputs(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    del (node.input if rng.random() < 0.7 else node.output)[int(rng.integers(3)) :]


def change_an_output(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    node.output.append(str(_pick(rng, *node.input, *node.output, *ODD_NAMES)))


def rename(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    graph, name = model.graph, _odd_name(rng)
    things = [*graph.node, *graph.input, *graph.output, *graph.initializer, graph]
    thing = things[int(rng.integers(len(things)))]
    old, thing.name = thing.name, name
    if rng.random() < 0.7:
        for node in graph.node:
            for names in (node.input, node.output):
                for index, other in enumerate(names):
                    names[index] = name if other == old else other


def change_the_op(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    if rng.random() < 0.5:
        node.op_type = str(
            _pick(rng, "", "If", "Loop", "Scan", "Relu", "Add", "Split", "Slice", "Gather", "Frobnicate")
        )
    else:
        node.domain = str(_pick(rng, "", "ai.onnx", "com.microsoft", "é", "a b"))


def swap_the_op(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    """Replaces an op by any registered op, with the attributes that it supports."""
    node, known = _node(rng, model), registered_converters()
    other = known[int(rng.integers(len(known)))]
    node.op_type, node.domain = other.op_type, other.domain
    kept = [attribute for attribute in node.attribute if attribute.name in other.attributes]
    del node.attribute[:]
    node.attribute.extend(kept)
    if other.domain not in {entry.domain for entry in model.opset_import}:
        model.opset_import.add().CopyFrom(helper.make_opsetid(other.domain, 1))


def change_the_opset(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    if rng.random() < 0.3:
        del model.opset_import[:]
    else:
        model.opset_import.add().CopyFrom(helper.make_opsetid("", int(_pick(rng, 0, -1, 1, 6, 9, 13, 99, 2**62))))


def change_a_shape(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    things = [*model.graph.input, *model.graph.output]
    if not things:
        return
    tensor = things[int(rng.integers(len(things)))].type.tensor_type
    dim = tensor.shape.dim[int(rng.integers(len(tensor.shape.dim)))] if tensor.shape.dim else tensor.shape.dim.add()
    if rng.random() < 0.3:
        dim.dim_param = _odd_name(rng)
    else:
        dim.dim_value = int(_pick(rng, *HUGE, *ODD_INTEGERS))


def change_a_rank(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    """Adds or removes an axis of an input or initializer, or removes all axes."""
    things = [value.type.tensor_type for value in model.graph.input] + list(model.graph.initializer)
    if not things:
        return
    thing = things[int(rng.integers(len(things)))]
    held = isinstance(thing, TensorProto)
    extents = [*thing.dims] if held else [dim.dim_value for dim in thing.shape.dim]
    match int(rng.integers(3)):
        case 0 if extents:
            axis = int(rng.integers(len(extents)))
            # The size of an initializer does not change.
            extents[axis : axis + 2] = (
                [int(np.prod(extents[axis : axis + 2]))] if held else extents[axis + 1 : axis + 2]
            )
        case 1:
            extents.insert(int(rng.integers(len(extents) + 1)), 1 if held else int(rng.integers(4)))
        case _:
            extents = [int(np.prod(extents))] if held else []
    if isinstance(thing, TensorProto):
        thing.dims[:] = extents
        return
    del thing.shape.dim[:]
    for extent in extents:
        thing.shape.dim.add().dim_value = extent


def make_an_input_constant(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    """Turns an input of a known small shape into an initializer of unusual numbers."""
    if not model.graph.input:
        return
    value = model.graph.input[int(rng.integers(len(model.graph.input)))]
    tensor = value.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    if not value.type.HasField("tensor_type") or not 0 <= np.prod([float(extent) for extent in shape]) <= 2000:
        return
    try:
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        with np.errstate(all="ignore"):
            array = rng.choice(np.array([*ODD_FLOATS, 1.0, 2.0, 3.0]), shape).astype(dtype)
    except (KeyError, ValueError):
        return
    if dtype != np.object_:  # strings
        model.graph.initializer.append(numpy_helper.from_array(array, value.name))


def change_an_input_type(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    if not model.graph.input:
        return
    value = model.graph.input[int(rng.integers(len(model.graph.input)))]
    match int(rng.integers(3)):
        case 0:
            value.type.tensor_type.elem_type = int(rng.integers(0, 40))
        case 1:
            value.type.ClearField("tensor_type")
        case _:
            value.type.tensor_type.ClearField("shape")


def change_a_tensor(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    tensor = _tensor(rng, model)
    match int(rng.integers(5)):
        case 0:
            tensor.data_type = int(rng.integers(0, 40))
        case 1:
            tensor.dims.append(int(_pick(rng, *HUGE, *ODD_INTEGERS)))
        case 2:
            tensor.dims[:] = [int(_pick(rng, *HUGE)) for _ in range(int(rng.integers(1, 4)))]
        case 3:
            tensor.raw_data = tensor.raw_data[: int(rng.integers(len(tensor.raw_data) + 1))]
        case _:
            tensor.ClearField("raw_data")


def replace_a_setting(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    tensor = _tensor(rng, model)
    values = np.array([int(_pick(rng, *ODD_INTEGERS)) for _ in range(int(rng.integers(0, 5)))], np.int64)
    shaped = values if rng.random() < 0.7 else values.reshape(-1, 1)
    tensor.CopyFrom(numpy_helper.from_array(shaped, tensor.name))


def store_elsewhere(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    tensor = _tensor(rng, model)
    tensor.data_location = TensorProto.EXTERNAL
    places = ("weights.bin", "../weights.bin", "/etc/hostname", "", ".", "no\x00where", "é")
    for key, value in (
        ("location", _pick(rng, *places)),
        ("offset", _pick(rng, "-1", "0", "9" * 30, "x", "")),
        ("length", _pick(rng, "-5", "4", "9" * 18, "x")),
    ):
        if rng.random() < 0.8:
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)


def change_an_attribute(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    if not node.attribute or rng.random() < 0.2:
        names = ("axis", "axes", "pads", "to", "value", "kernel_shape", "strides", "perm", "blocksize", "epsilon", "")
        node.attribute.add().name = str(_pick(rng, *names))
    attribute = node.attribute[int(rng.integers(len(node.attribute)))]
    integers = [int(_pick(rng, *ODD_INTEGERS)) for _ in range(int(rng.integers(0, 6)))]
    match int(rng.integers(7)):
        case 0:
            attribute.type, attribute.i = AttributeProto.INT, int(_pick(rng, *ODD_INTEGERS))
        case 1:
            attribute.type, attribute.f = AttributeProto.FLOAT, float(str(_pick(rng, *ODD_FLOATS)))
        case 2:
            attribute.type, attribute.s = AttributeProto.STRING, rng.bytes(3)
        case 3:
            attribute.type = AttributeProto.INTS
            attribute.ints[:] = integers
        case 4:
            attribute.type = AttributeProto.TENSOR
            attribute.t.CopyFrom(_tensor(rng, model))
        case 5:
            attribute.type = AttributeProto.GRAPH
            # A protobuf message may not be copied into itself.
            graph = onnx.GraphProto()
            graph.CopyFrom(model.graph)
            attribute.g.CopyFrom(graph)
        case _:
            attribute.type = AttributeProto.AttributeType.values()[int(rng.integers(14))]


def drop_an_attribute(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    if node.attribute:
        del node.attribute[int(rng.integers(len(node.attribute)))]


def repeat_something(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    graph = model.graph
    lists = [graph.node, graph.input, graph.output, graph.initializer]
    chosen = lists[int(rng.integers(len(lists)))]
    if chosen:
        chosen.add().CopyFrom(chosen[int(rng.integers(len(chosen)))])


def make_a_cycle(rng: np.random.Generator, model: onnx.ModelProto) -> None:
    node = _node(rng, model)
    if node.output:
        node.input.append(node.output[0])


MUTATIONS: tuple[Mutation, ...] = (
    change_an_input,
    drop_inputs_or_outputs,
    change_an_output,
    rename,
    change_the_op,
    swap_the_op,
    swap_the_op,
    change_the_opset,
    change_a_shape,
    change_a_rank,
    change_a_rank,
    make_an_input_constant,
    change_an_input_type,
    change_a_tensor,
    replace_a_setting,
    replace_a_setting,
    store_elsewhere,
    change_an_attribute,
    change_an_attribute,
    drop_an_attribute,
    repeat_something,
    make_a_cycle,
)

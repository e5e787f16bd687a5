"""Invalid nodes: operands of wrong ranks, numbers beyond 64 bits, and settings that require too much memory.

Each raises an error at once that names the node and the problem, without large allocations.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

MICROSOFT = "com.microsoft"
BODY = "b (float a) => (c) {c = Abs (a)}"


def complaint(inputs: str, nodes: str, opset: int = 19) -> str:
    """The importer's error for the nodes, whose result is `y`."""
    domains = ", ".join(f'"{domain}" : 1' for domain in (MICROSOFT, f"{MICROSOFT}.nchwc"))
    text = f'<ir_version: 8, opset_import: ["" : {opset}, {domains}]> graph ({inputs}) => (float[N] y) {{ {nodes} }}'
    with pytest.raises(ModelImportError) as caught:
        import_onnx(onnx.parser.parse_model(text)).verify()
    assert str(caught.value).startswith("node ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "node", "words"),
    [
        ("float[8] x, float[8, 24] w", "Attention <num_heads = 2> (x, w)", "input #0 must have rank 3, found"),
        ("float[1, 3, 8] x, float[8] w", "Attention <num_heads = 2> (x, w)", "input #1 must have rank 2, found"),
        (
            "uint8[8] x, uint8[8, 24] w, float[24] b, float s, uint8 z",
            "QAttention <num_heads = 2> (x, w, b, s, s, , z, z)",
            "input #0 must have rank 3, found",
        ),
        (
            "float[2, 4] x, float r, float[3, 8, 4] f, float[3, 4, 8] g",
            "MoE <k = 1> (x, r, f, , g)",
            "input #1 is tensor<f32>: a tensor with axes is expected",
        ),
    ],
)
def test_a_rank_that_an_op_of_onnxruntime_does_not_take(inputs: str, node: str, words: str) -> None:
    assert words in complaint(inputs, f"y = {MICROSOFT}.{node}")


@pytest.mark.parametrize("dims", ["", "8", "8, 8"])
def test_filters_in_blocks_without_spatial_axes(dims: str) -> None:
    size = 8 ** len(dims.split(",")) if dims else 1
    kind = f"float[{dims}]" if dims else "float"
    filters = f"w = Constant <value = {kind} {{{', '.join('1' * size)}}}> ()"
    said = complaint("float[1, 8, 4, 4] x", f"{filters} y = {MICROSOFT}.nchwc.Conv (x, w)")
    assert "input #1 must have filters, channels and spatial axes, found tensor<" in said


@pytest.mark.parametrize(
    ("inputs", "nodes", "words", "opset"),
    [
        (
            "uint8[2, 3] x, uint8[3] w, float s, float[2] r, uint8 z",
            "y = QLinearMatMul (x, s, z, w, r, z, s, z)",
            "input #4 has the shape (2), (1) or one number is expected",
            19,
        ),
        (
            "float x",
            f'y = Scan <num_scan_inputs = 1, body = {BODY}> ("", x)',
            "input #1 is tensor<f32>: the first axis must be the batch",
            8,
        ),
        (
            "float[4] x",
            "s = Constant <value_float = 3e38> () t = Mul (s, s) q = SplitToSequence (x, t) y = SequenceLength (q)",
            "parts of inf do not make an extent of 4",
            19,
        ),
        (
            "float[2, 3] x, int64[2] s, int64[1] e, int64[2] a",
            "y = Slice (x, s, e, a)",
            "input #2 is tensor<1xi64>, a list of 2 is expected, as of starts",
            19,
        ),
        ("float[2, 3] x, float[3] b", 'y = LayerNormalization (x, "", b)', "input #1 is missing", 17),
        (
            "float[3] x, float[1] s",
            "y = GroupNormalization <num_groups = 1> (x, s, s)",
            "tensor<3xf32> has no axis 1",
            18,
        ),
        (
            "double[1] x",
            "a = Constant <value = double {-1.7e308}> () b = Constant <value = double {1.7e308}> () "
            "c = Constant <value = double {1.0}> () y = Range (a, b, c)",
            "Range from -1.7e+308 to 1.7e+308 by 1.0 ",
            19,
        ),
        (
            "float[0, 3, 4611686018427387904, 17] x",
            "p, y = MaxPool <kernel_shape = [1, 1]> (x)",
            "Indices cannot number the elements of [0, 3, 4611686018427387904, 17]",
            19,
        ),
        (
            "float[2, 4] x, float[2, 2] r, uint8[2, 4, 0] w, float[2, 4] s",
            f"y = {MICROSOFT}.QMoE <expert_weight_bits = 8, k = 1> (x, r, w, s, , w, s)",
            "weights tensor<2x4x0xui8> of 8 bits",
            19,
        ),
    ],
)
def test_an_operand_that_an_op_does_not_take(inputs: str, nodes: str, words: str, opset: int) -> None:
    assert words in complaint(inputs, nodes, opset)


@pytest.mark.parametrize(
    ("inputs", "nodes", "words"),
    [
        ("float[1, 4, 4] x, int64[40] s", "y = Col2Im (x, s, s)", "an image of 40 axes; at most 32 are supported"),
        ("float[1, 4, 4] x, int64[1099511627776] s", "y = Col2Im (x, s, s)", "must have an extent for each axis"),
        ("float[2] x, int64[2147483648] a", "y = Unsqueeze (x, a)", "2147483649 axes; a tensor has at most 64"),
        ("float[2] x, int64[1099511627776] a", "y = Slice (x, a, a)", "1099511627776 starts for a tensor of rank 1"),
    ],
)
def test_a_list_with_more_entries_than_a_tensor_has_axes(inputs: str, nodes: str, words: str) -> None:
    assert words in complaint(inputs, nodes)


@pytest.mark.parametrize(
    ("shape", "scales", "words"),
    [
        ("4, 100", "1, 3e38", "an extent of 100 times the scale"),
        ("4, n", "1, 2e-38", "needs a known extent, found n"),
        ("4, n", "2e-38, 2", "signed 64-bit integer"),
    ],
)
def test_a_scale_beyond_every_size(shape: str, scales: str, words: str) -> None:
    nodes = f'r = Constant <value = float[2] {{{scales}}}> () y = Resize (x, "", r)'
    assert words in complaint(f"float[{shape}] x", nodes)


@pytest.mark.parametrize(
    ("inputs", "nodes"),
    [
        (
            "float[1] x",
            "b = Constant <value_int = 67108864> () one = Constant <value_int = 1> () "
            "low = Constant <value_float = 0.0> () high = Constant <value_float = 9.0> () "
            "y = MelWeightMatrix (b, one, one, low, high)",
        ),
        (
            "float[1] x",
            "a = Constant <value_float = 0.0> () b = Constant <value_float = 1.4e8> () "
            "c = Constant <value_float = 1.0> () y = Range (a, b, c)",
        ),
        ("float[1, 9000, 1] x", "n = Constant <value_int = 9000> () y = DFT <axis = 1> (x, n)"),
        ("float[65536, 2048, 2, 2] x", "p, y = MaxPool <kernel_shape = [2, 2]> (x)"),
        (
            "float[1, 1, 2147483648] x, int64[3, 1, 1] p, float[1, 1073741824] c",
            f"y = {MICROSOFT}.MRotaryEmbedding <mrope_section = [1073741824, 0, 0], num_heads = 1> (x, p, c, c)",
        ),
    ],
)
def test_a_few_bytes_that_ask_for_a_large_constant(inputs: str, nodes: str) -> None:
    tracemalloc.start()
    try:
        said = complaint(inputs, nodes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "would take" in said or "mel bins" in said
    assert peak < 1 << 24


def test_scales_of_blocks_whose_number_has_a_name() -> None:
    text = """<ir_version: 8, opset_import: ["" : 21]> graph (float[2, 5] x, float[2, n] s) => (uint8[2, 5] y)
    { y = QuantizeLinear <axis = 1, block_size = 2> (x, s) }"""
    module = import_onnx(onnx.parser.parse_model(text))
    x, scales = np.arange(10, dtype=np.float32).reshape(2, 5), np.array([[1, 2, 4], [1, 1, 0.5]], np.float32)
    (found,) = run_relay(module, [x, scales])
    assert found.tolist() == [[0, 1, 1, 2, 1], [5, 6, 7, 8, 18]]


def test_an_empty_constant_of_a_long_axis_is_not_folded() -> None:
    tensors = [TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[1 << 24, 0]) for name in ("x", "s")]
    proto = model([helper.make_node("RMSNormalization", ["x", "s"], ["y"])], [], ["y"], opset=23)
    proto.graph.initializer.extend(tensors)
    tracemalloc.start()
    try:
        import_onnx(proto)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 24

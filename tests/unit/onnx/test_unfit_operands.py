"""Operands that an ONNX op does not accept: sequences for tensors, several numbers for one, too many elements."""

from __future__ import annotations

import onnx
import pytest

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

BODY = "(int64 i, bool g, float[2] a) => (bool h, float[2] b) {h = Identity (g) b = Identity (a)}"


def imported(inputs: str, nodes: str) -> None:
    text = f'<ir_version: 8, opset_import: ["" : 17]> graph ({inputs}) => (float[N] y) {{ {nodes} }}'
    import_onnx(onnx.parser.parse_model(text)).verify()


@pytest.mark.parametrize(
    ("inputs", "nodes", "words"),
    [
        (
            "float[2] x",
            "c = Constant <value = bool[3] {1, 1, 1}> () y = If (c) <then_branch = b () => (t) {t = Abs (x)}>",
            "the condition must be one i1, found 3 of them",
        ),
        (
            "float[2] x, optional(bool[1]) c",
            "y = If (c) <then_branch = b () => (t) {t = Abs (x)}>",
            r"a tensor is expected, found !relay\.optional",
        ),
        ("float[2] x, float n", f'y = Loop (n, "", x) <body = b {BODY}>', "the trip count must be one i64"),
        ("float[2] x, int64 n", f'y = Loop ("", n, x) <body = b {BODY}>', "the condition must be one i1"),
        (
            "float[2] x, int64 n, bool c",
            "y = Loop (n, c, x) <body = b (int64 i, bool g, float[2] a) => (a, a) {u = Abs (a)}>",
            "the condition must be one i1",
        ),
        (
            "float[2] x, int64 n",
            'y = Loop (n, "", x) <body = b (int64 i, bool g, float[2] a) => () {u = Abs (a)}>',
            "the body has no outputs",
        ),
        (
            "seq(float[2]) x",
            "y = Scan <num_scan_inputs = 1, body = b (float[1] a) => (float[1] t) {t = Abs (a)}> (x)",
            r"a tensor is expected, found !relay\.sequence",
        ),
        ("seq(float[2]) x", "y = SequenceAt (x)", "input #1 is missing"),
        ("seq(float[2]) x", "y = SequenceInsert (x)", "input #1 is missing"),
        ("seq(float[2]) x", "y = Relu (x)", "must be a tensor"),
        ("seq(float[2]) x", "y = LayerNormalization (x, x)", "must be a tensor"),
        ("float[2] x, float[1] s", "y = Slice (x, s, s)", "integers are expected"),
        (
            "float[1099511627776, 1, 4, 4] x",
            "p, y = MaxPool <kernel_shape = [2, 2]> (x)",
            "would take 8796093022208 bytes",
        ),
        (
            "float[1, 1, 9000000000, 9000000000] x",
            "p, y = MaxPool <kernel_shape = [2, 2]> (x)",
            "Indices cannot number the elements",
        ),
        (
            "float[1099511627776, 1099511627776] x",
            "k = Constant <value = int64[1] {0}> () y, i = TopK (x, k)",
            "would take",
        ),
    ],
)
def test_an_operand_that_does_not_suit_is_an_error_of_its_node(inputs: str, nodes: str, words: str) -> None:
    with pytest.raises(ModelImportError, match=f"^node .*{words}"):
        imported(inputs, nodes)


def test_an_enormous_axis_is_not_split_part_by_part() -> None:
    imported("float[1099511627776] x", "s = SplitToSequence (x) n = SequenceLength (s) y = Cast <to = 1> (n)")


def test_a_demand_that_no_size_meets_is_an_error_of_its_node() -> None:
    with pytest.raises(ModelImportError, match=r"^node .*390 \* n == 1 contradicts"):
        imported("float[390, n] x", "s = Constant <value = int64[0] {}> () y = Reshape (x, s)")

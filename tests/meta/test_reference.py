"""The pages of docs/reference match the registries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.frontend.onnx.op_reference import onnx_reference, onnx_version
from xrelay.frontend.onnx.registry import registered_converters
from xrelay.tools.reference import ONNX_OPS, OPS, ops_reference

ROOT = Path(__file__).resolve().parents[2]
HELP = "run make reference"


def test_the_page_of_ops_is_true() -> None:
    assert (ROOT / OPS).read_text(encoding="utf-8") == ops_reference(), HELP


def test_every_operator_of_relay_has_an_entry() -> None:
    headings = set(re.findall(r"^#### `(.+)`$", ops_reference(), re.MULTILINE))
    assert {op.name for op in relay_ops().values() if op.__module__.startswith("xrelay.")} <= headings


def test_the_page_of_onnx_operators_is_true() -> None:
    text = (ROOT / ONNX_OPS).read_text(encoding="utf-8")
    written = re.search(r"operators of onnx (\d+(?:\.\d+)*)", text)
    assert written is not None
    if written[1] != onnx_version():
        pytest.skip(f"the page is for onnx {written[1]}, and onnx {onnx_version()} is installed")
    assert text == onnx_reference(), HELP


def test_every_converter_has_a_row() -> None:
    rows = onnx_reference().splitlines()
    for converter in registered_converters():
        if converter.is_ours:
            assert any(row.startswith(f"| {converter.op_type} | {converter.since}–") for row in rows), converter.op_type

"""The fusion of a real network as JSON, as a drawing, and by the names of its ONNX nodes."""

from __future__ import annotations

import json
import re

from xrelay.frontend.onnx import import_onnx
from xrelay.frontend.onnx.light_models import light_model
from xrelay.passes.fusion.explain import explain_fusion
from xrelay.passes.fusion.explain_text import dot_lines, story_lines, to_json
from xrelay.passes.fusion.partition import FusionOptions

STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTES = rf"\[\w+=(?:{STRING}|\w+)(?:, \w+=(?:{STRING}|\w+))*\]"
DOT_LINE = re.compile(
    rf"\s*(?:digraph fusion \{{|subgraph cluster_\d+_\d+ \{{|\}}|label={STRING};"
    rf"|(?:node|b\d+_\d+(?: -> b\d+_\d+)?) {ATTRIBUTES};)"
)


def test_squeezenet_is_explained() -> None:
    model = light_model("squeezenet")
    blocks = explain_fusion(import_onnx(model), FusionOptions())
    explained = json.loads(to_json(blocks))
    assert sum(len(block["kernels"]) for block in explained["blocks"]) == sum(len(block.groups) for block in blocks)
    lines = list(dot_lines(blocks))
    assert [line for line in lines if DOT_LINE.fullmatch(line) is None] == []
    assert sum(line.endswith("{") for line in lines) == sum(line.strip() == "}" for line in lines)
    for name in (node.name for node in model.graph.node if node.op_type in ("Conv", "Relu")):
        stories = [list(story_lines(block, op)) for block in blocks for op in block.matching(name)]
        assert stories
        assert all(name in story[0] for story in stories)

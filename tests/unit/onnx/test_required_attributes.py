"""An attribute without a default is required."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest
from onnx import helper
from xdsl.ir import Block

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.node import NodeView


def node_with(**attributes: float) -> NodeView:
    node = helper.make_node("Own", [], ["y"], name="own")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
    return NodeView(node, GraphBuilder(Block(), onnx.GraphProto(), "model", {"": 20}))


READERS: list[Callable[[NodeView, str], object]] = [
    NodeView.attribute_int, NodeView.attribute_float, NodeView.attribute_text, NodeView.attribute_graph,
]  # fmt: skip


@pytest.mark.parametrize("read", READERS)
def test_a_missing_attribute_is_an_error_of_the_node(read: Callable[[NodeView, str], object]) -> None:
    with pytest.raises(ModelImportError, match=r"own.*'a'"):
        read(node_with(), "a")


def test_an_attribute_of_the_node_and_a_default_are_returned() -> None:
    node = node_with(i=3, f=0.5)
    assert (node.attribute_int("i"), node.attribute_float("f")) == (3, 0.5)
    assert (node.attribute_int("a", 4), node.attribute_float("a", 0.25)) == (4, 0.25)

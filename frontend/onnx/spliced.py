"""The nodes of a branch or function, renamed for the enclosing graph."""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass

import onnx

from xrelay.frontend.onnx.needed import bodies_of, names_defined, needed_nodes
from xrelay.frontend.onnx.tensors import weight_name


@dataclass(frozen=True)
class SplicedBranch:
    """The nodes that replace an If, and the initializers of its branch with their new names.

    The values of the branch are renamed, since the enclosing graph may use the same names. `Identity` nodes rename the
    outputs of the branch to the outputs of the If.
    """

    nodes: Sequence[onnx.NodeProto]
    weights: Sequence[tuple[str, onnx.TensorProto | onnx.SparseTensorProto]]

    @staticmethod
    def of(node: onnx.NodeProto, branch: str) -> SplicedBranch:
        """Returns the branch of an If whose attributes have been checked."""
        body = next(attribute.g for attribute in node.attribute if attribute.name == branch)
        prefix = f"{next(filter(None, node.output), node.name)}/{branch}/"
        names = {name: prefix + name for name in names_defined(body) if name}
        return SplicedBranch(
            _nodes(body, names, node.output, node.name),
            [(names[weight_name(weight)], weight) for weight in (*body.initializer, *body.sparse_initializer)],
        )


def spliced_call(node: onnx.NodeProto, body: onnx.GraphProto, outputs: Sequence[str]) -> list[onnx.NodeProto]:
    """Returns the nodes that replace a call of a function.

    `body` is the graph of the function with the attributes of the call; `outputs` are the names of its outputs in the
    enclosing graph.
    """
    prefix = f"{next(filter(None, node.output), node.name)}/"
    names = {name: prefix + name for name in names_defined(body) if name}
    names |= zip((formal.name for formal in body.input), filter(None, node.input), strict=True)
    return _nodes(body, names, outputs, node.name)


def _nodes(body: onnx.GraphProto, names: Mapping[str, str], outputs: Sequence[str], place: str) -> list[onnx.NodeProto]:
    """The renamed nodes that outputs of `body` depend on, and an `Identity` for each output."""
    nodes = [_renamed(body.node[number], names) for number in needed_nodes(body)]
    for output, name in zip(body.output, outputs, strict=True):
        if name:
            source = names.get(output.name, output.name)
            nodes.append(onnx.helper.make_node("Identity", [source], [name], name=place))
    return nodes


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    """Returns a copy of `node` with renamed values, also in its bodies, except for names that bodies define."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    _rename(copy.input, names)
    _rename(copy.output, names)
    pending = [(body, names) for body in bodies_of(copy)]
    while pending:
        body, around = pending.pop()
        own = names_defined(body)
        seen = {name: new for name, new in around.items() if name not in own}
        for output in body.output:
            output.name = seen.get(output.name, output.name)
        for inner in body.node:
            _rename(inner.input, seen)
            pending += [(each, seen) for each in bodies_of(inner)]
    return copy


def _rename(listed: MutableSequence[str], names: Mapping[str, str]) -> None:
    for index, name in enumerate(listed):
        if name in names:
            listed[index] = names[name]

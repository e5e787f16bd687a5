"""The nodes on which the outputs of a graph depend, in topological order.

ONNX requires sorted graphs but onnxruntime does not, so models come in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

import onnx

from xrelay.frontend.onnx.problems import MalformedGraphError

MAX_SHOWN = 8
"""The maximum number of nodes of a cycle that an error lists."""


def needed_nodes(graph: onnx.GraphProto) -> list[int]:
    """Returns the indices of the nodes on which outputs of `graph` depend, in topological order.

    A sorted graph keeps its order, another graph as much of it as possible. Raises `MalformedGraphError` for a cycle.
    """
    makers: dict[str, list[int]] = {}
    for number, node in enumerate(graph.node):
        for name in filter(None, node.output):
            makers.setdefault(name, []).append(number)
    given = input_names(graph)
    pending, met = [output.name for output in graph.output], set[str]()
    sources: dict[int, list[int]] = {}
    while pending:
        name = pending.pop()
        if name in met:
            continue
        met.add(name)
        for number in makers.get(name, ()):
            if number not in sources:
                read = names_read(graph.node[number])
                sources[number] = [maker for name in read if name not in given for maker in makers.get(name, ())]
                pending += read
    if all(maker < number for number, found in sources.items() for maker in found):
        return sorted(sources)
    return _sorted(graph, sources)


def _sorted(graph: onnx.GraphProto, sources: Mapping[int, Sequence[int]]) -> list[int]:
    """Kahn's algorithm: among the nodes whose sources are all listed, the first in the file is next."""
    readers: dict[int, list[int]] = {number: [] for number in sources}
    left = {number: len(set(found)) for number, found in sources.items()}
    for number, found in sources.items():
        for maker in set(found):
            readers[maker].append(number)
    ready = [number for number, count in left.items() if count == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        number = heappop(ready)
        order.append(number)
        del left[number]
        for reader in readers[number]:
            left[reader] -= 1
            if left[reader] == 0:
                heappush(ready, reader)
    if left:
        raise _cycle(graph, {number: [maker for maker in sources[number] if maker in left] for number in left})
    return order


def _cycle(graph: onnx.GraphProto, sources: Mapping[int, Sequence[int]]) -> MalformedGraphError:
    """The error that names a cycle; each node of `sources` has a source in `sources`."""
    number, met = min(sources), dict[int, None]()
    while number not in met:
        met[number] = None
        number = min(sources[number])
    path = list(met)
    cycle = path[path.index(number) :]
    names = [repr(_name(graph.node[each])) for each in (*cycle[:MAX_SHOWN], number)]
    if len(cycle) > MAX_SHOWN:
        names.insert(-1, f"{len(cycle) - MAX_SHOWN} more")
    text = f"the graph {graph.name!r} has a cycle of nodes: {', which reads from '.join(names)}"
    return MalformedGraphError(text, help="ONNX graphs are acyclic; export the model again")


def _name(node: onnx.NodeProto) -> str:
    return node.name or next(filter(None, node.output), node.op_type)


def names_read(node: onnx.NodeProto) -> set[str]:
    """Returns the names of the values that a node reads, including those that its bodies read from enclosing graphs."""
    names = set(filter(None, node.input))
    pending: list[tuple[onnx.GraphProto, tuple[set[str], ...]]] = [(body, ()) for body in bodies_of(node)]
    while pending:
        graph, around = pending.pop()
        scopes = (*around, names_defined(graph))
        for inner in graph.node:
            names.update(name for name in inner.input if name and not any(name in scope for scope in scopes))
            pending += [(body, scopes) for body in bodies_of(inner)]
        names.update(output.name for output in graph.output if not any(output.name in scope for scope in scopes))
    return names


def input_names(graph: onnx.GraphProto) -> set[str]:
    """Returns the names of inputs and initializers."""
    sparse = (tensor.values.name for tensor in graph.sparse_initializer)
    return {*(value.name for value in graph.input), *(tensor.name for tensor in graph.initializer), *sparse}


def names_defined(graph: onnx.GraphProto) -> set[str]:
    """Returns the names of all values of a graph, except those in nested bodies."""
    return input_names(graph).union(name for node in graph.node for name in node.output)


def bodies_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Returns the graphs in the attributes of a node."""
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]

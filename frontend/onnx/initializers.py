"""The constants of a graph."""

from __future__ import annotations

import onnx

from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.sparse_tensors import dense_array
from xrelay.frontend.onnx.tensors import tensor_array


def define_initializer(tensor: onnx.TensorProto, graph: GraphBuilder, name: str | None = None) -> None:
    """Bind a tensor to its name, or to `name`."""
    try:
        graph.define_constant(tensor.name if name is None else name, tensor_array(tensor, graph.tensors))
    except XRelayError as error:
        raise ModelImportError(error.message, location=f"tensor {tensor.name!r}", help=error.help) from error


def define_sparse_initializer(sparse: onnx.SparseTensorProto, graph: GraphBuilder, name: str | None = None) -> None:
    """Bind a sparse tensor, as a dense constant, to its name, or to `name`."""
    graph.define_constant(sparse.values.name if name is None else name, dense_array(sparse, graph.tensors))

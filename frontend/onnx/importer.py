"""Import of an ONNX model as a relay module: one `@main` in dataflow form, with ops located at their source nodes.

Nodes are converted in topological order, whatever their order in the file. Nodes on which no output depends are left
out. An error does not end the import: nodes that depend on the failed one are skipped, the others are converted, and
all errors are reported together. A node whose inputs are all small constants (shape arithmetic) is converted like any
other, and the relay interpreter evaluates its ops at once.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import onnx
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.arguments import Extent, GivenShapes, Shapes, checked_shapes
from xrelay.dialects.relay.core.size_hints import SizeHint, add_size_hints
from xrelay.dialects.relay.structure.call import instantiate, names_in
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.attribute_names import FORM, VALUE_NAME
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.requirements import new_extents
from xrelay.errors import ModelImportError, did_you_mean, printable
from xrelay.frontend.onnx.conversion import report, try_convert
from xrelay.frontend.onnx.functions import ModelFunctions
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.known_containers import without_containers
from xrelay.frontend.onnx.load import LoadedModel, ModelSource, load_model
from xrelay.frontend.onnx.node_list import NodeList, Uses
from xrelay.frontend.onnx.opened_dims import fixing_nodes, opened_names
from xrelay.frontend.onnx.signature import (
    CAST_INSIDE,
    check_declared,
    check_names,
    declared_types,
    graph_inputs,
    input_type,
    name_by_position,
    names_by_position,
)
from xrelay.frontend.onnx.tensors import weight_name

_LOG = logging.getLogger(__name__)


def import_onnx(source: ModelSource, *, shapes: GivenShapes | None = None) -> ModuleOp:
    """Returns the relay module of an ONNX model.

    `shapes` has the shapes of inputs by name. A number fixes a dynamic dimension; a name makes a dimension dynamic,
    even if the model has a number. A dynamic dimension has its name as key, or `x_0` for axis 0 of input `x` if it has
    no name; the value is its size, or its minimum, maximum and typical size. An initializer that is also a model input
    becomes a required argument if `shapes` names it. The function is `@main`; `relay.name` of its arguments and results
    is their name in the model.

    Raises `ModelImportError` for an unreadable or truncated file, unsupported nodes (all of them in one message), an
    ill-formed graph (cycle, undefined value), an illegal attribute, a shape mismatch, and a node that allows a single
    size of a dimension which `shapes` makes dynamic.
    """
    return ModelImport(source, shapes=shapes).module()


class ModelImport:
    """A model whose nodes have been converted as far as possible.

    `problems` has the errors of nodes by their index in the graph. With `assume_types`, conversion continues after a
    failed node: its outputs become values of the declared or inferred types. It also continues after refused inputs and
    weights, whose errors are in `value_problems`, and after undefined values.
    """

    def __init__(
        self,
        source: ModelSource | LoadedModel,
        *,
        shapes: GivenShapes | None = None,
        dtypes: Mapping[str, str] | str | None = None,
        opset: int | None = None,
        assume_types: bool = False,
    ):
        self.model, self.location, tensors = source if isinstance(source, LoadedModel) else load_model(source)
        self.inputs = graph_inputs(self.model.graph, checked_shapes(shapes))
        fixed = {name: shape for name, shape in checked_shapes(shapes).items() if name in _names_of(self.inputs)}
        self._sizes: Shapes = {name: shape for name, shape in checked_shapes(shapes).items() if name not in fixed}
        if isinstance(dtypes, Mapping):
            check_names("dtype", dtypes, self.inputs)
        opsets = {entry.domain: int(entry.version) for entry in self.model.opset_import}
        opsets |= {} if opset is None else {"": opset}
        _warn_of_newer(opsets, self.location)
        functions = ModelFunctions(self.model)
        self.graph = GraphBuilder(Block(), self.model.graph, self.location, opsets, functions, tensors)
        self.problems: dict[int, ModelImportError] = {}
        self.value_problems: list[ModelImportError] = []
        self._opened = opened_names(self.inputs, fixed)
        self._continues = assume_types
        self._assumed = declared_types(self.model) if assume_types else {}
        self._add_inputs(fixed, dtypes)
        self._convert_nodes()

    def _add_inputs(self, fixed: Mapping[str, Sequence[Extent]], dtypes: Mapping[str, str] | str | None) -> None:
        """Adds a block argument for each input, except unread inputs of unsupported types."""
        types: dict[str, Attribute] = {}
        for value in self.inputs:
            try:
                types[value.name] = input_type(value, fixed.get(value.name), _dtype_of(value, dtypes))
            except ModelImportError as error:
                if value.name in self.graph.read_names or value.name in fixed:
                    self._refuse_value(value.name, error)
                    continue
                _LOG.warning("ignoring the unused input %r: %s", value.name, printable(error.message))
        self.inputs = [value for value in self.inputs if value.name in types]
        for type in _with_sizes([types[value.name] for value in self.inputs], self.inputs, self._sizes):
            self.graph.block.insert_arg(type, len(self.graph.block.args))

    def _convert_nodes(self) -> None:
        for value, argument in zip(self.inputs, self.graph.block.args, strict=True):
            self.graph.define(value.name, argument)
        needed = self._needed_values()
        for weight in (*self.model.graph.initializer, *self.model.graph.sparse_initializer):
            if weight_name(weight) in needed:
                self._define(weight)
        protos, outputs = self.graph.needed_nodes, [output.name for output in self.model.graph.output]
        nodes = NodeList(self.graph, Uses(list(protos.values()), outputs), try_convert, any_rank=True)
        for number, proto in protos.items():
            error = self._try(proto, nodes)
            if error is not None:
                self.problems[number] = error
                self._leave_out(proto)
        nodes.finish()

    def _define(self, weight: onnx.TensorProto | onnx.SparseTensorProto) -> None:
        """Binds a weight to its constant, or handles its error."""
        try:
            self.graph.define_weight(weight)
        except ModelImportError as error:
            self._refuse_value(weight_name(weight), error)

    def _needed_values(self) -> frozenset[str]:
        """Returns the names that the graph reads, without its inputs."""
        return self.graph.read_names.difference(_names_of(self.inputs))

    def _refuse_value(self, name: str, error: ModelImportError) -> None:
        """Raises the error of an input or a weight, or records it and continues."""
        if not self._continues:
            raise error
        self.value_problems.append(error)
        self.graph.missing.add(name)

    def _try(self, proto: onnx.NodeProto, nodes: NodeList) -> ModelImportError | None:
        """Converts the next of `nodes`; returns the error if that fails."""
        try:
            return nodes.convert(proto, () if self._continues else self.problems.values())
        except ModelImportError as error:
            if not self._continues:
                raise
            return error

    def _leave_out(self, proto: onnx.NodeProto) -> None:
        """Marks the outputs of a node as missing, or replaces them with values of their types."""
        for name in filter(None, proto.output):
            assumed = self._assumed.get(name)
            if assumed is None or name in self.graph.values:
                self.graph.missing.add(name)
            else:
                self.graph.define(name, self.graph.block.insert_arg(assumed, len(self.graph.block.args)))

    def module(self) -> ModuleOp:
        """Returns the module; raises the errors of its nodes."""
        fixing = fixing_nodes(self.graph.block, self._opened)
        report([*self.value_problems, *self.problems.values(), *fixing], self.location)
        _name_extents(self.graph, self.inputs)
        return _module(self.model.graph, self.inputs, self.graph, self._sizes)

    def weights(self) -> dict[str, SSAValue]:
        """Returns the initializers that the converted graph reads, by name."""
        needed = self._needed_values()
        names = [tensor.name for tensor in self.model.graph.initializer if tensor.name in needed]
        return {name: self.graph.values[name] for name in names if self.graph.values[name].uses}


def _warn_of_newer(opsets: Mapping[str, int], location: str) -> None:
    """Warns of an opset that onnx does not support yet; its operators are read as in the newest supported one."""
    given, newest = max(opsets.get("", 0), opsets.get("ai.onnx", 0)), onnx.defs.onnx_opset_version()
    if given > newest:
        _LOG.warning(
            "%s: opset %d is read as opset %d, the newest that onnx %s has",
            printable(location),
            given,
            newest,
            onnx.__version__,
        )


def _names_of(inputs: Sequence[onnx.ValueInfoProto]) -> list[str]:
    return [value.name for value in inputs]


def _with_sizes(types: Sequence[Attribute], inputs: Sequence[onnx.ValueInfoProto], sizes: Shapes) -> list[Attribute]:
    """Returns the types of the inputs, in which each dimension that `sizes` mentions has a name, or its only size.

    A dimension without a name is called after its input and axis. Raises `ModelImportError` if a name has no dimension.
    """
    wanted = set(sizes) - set(names_in(types))
    named = [name_by_position(type, value.name, wanted) for type, value in zip(types, inputs, strict=True)]
    dims = list(names_in(named))
    unknown = next((name for name in sizes if name not in dims), None)
    if unknown is not None:
        known = [*_names_of(inputs), *dims]
        help = did_you_mean(unknown, known, f"inputs and dynamic dimensions are {', '.join(map(repr, known))}")
        raise ModelImportError(f"shapes names {unknown!r}, which is not an input of the model", help=help)
    fixed = {name: hint.least for name, numbers in sizes.items() if (hint := SizeHint.of(name, numbers)).is_fixed}
    return [instantiate(type, fixed) for type in named]


def _name_extents(graph: GraphBuilder, inputs: Sequence[onnx.ValueInfoProto]) -> None:
    """Names each unnamed extent of an argument after input and axis, as `x_0`, if the graph does not use this name."""
    block, renamed = graph.block, dict[SSAValue, SSAValue]()
    ops = [op for outer in block.ops for op in outer.walk()]
    used = {*names_in(value.type for value in (*block.args, *(each for op in ops for each in defined_values(op))))}
    used |= {extent.name for op in ops for extent in new_extents(op)}
    free = {dim for value in inputs for dim in names_by_position(value)} - used
    for argument, value in zip(tuple(block.args), inputs, strict=True):
        type = name_by_position(argument.type, value.name, free)
        if type != argument.type:
            renamed[argument] = Rewriter.replace_value_with_new_type(argument, type)
    graph.values.update({name: renamed[value] for name, value in graph.values.items() if value in renamed})


def _dtype_of(value: onnx.ValueInfoProto, dtypes: Mapping[str, str] | str | None) -> str | None:
    return dtypes if isinstance(dtypes, str) or dtypes is None else dtypes.get(value.name)


def _module(
    graph: onnx.GraphProto, inputs: Sequence[onnx.ValueInfoProto], builder: GraphBuilder, sizes: Shapes
) -> ModuleOp:
    results: list[SSAValue] = []
    for output in graph.output:
        value = builder.values.get(output.name)
        if value is None:
            raise ModelImportError("it is not defined in the model", location=f"output {output.name!r}")
        dtype = builder.carried.of(value)
        if dtype is not None:
            location = f"output {output.name!r}"
            raise ModelImportError(f"element type {dtype} is not supported", location=location, help=CAST_INSIDE)
        check_declared(output, value.type)
        held = without_containers(value)
        results.append(held[0] if len(held) == 1 else builder.insert(TupleOp.call(*held), output.name).results[0])
    builder.block.add_op(ReturnOp(*results))
    function = FuncOp(
        "main",
        ([argument.type for argument in builder.block.args], [value.type for value in results]),
        Region(builder.block),
        arg_attrs=_names([value.name for value in inputs]),
    )
    function.res_attrs = _names([output.name for output in graph.output])
    function.attributes[FORM] = StringAttr("dataflow")
    add_size_hints(function, {name: sizes[name] for name in sizes if name in names_in(function.function_type.inputs)})
    return ModuleOp([function])


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{VALUE_NAME: StringAttr(name)} for name in names]
    return ArrayAttr([DictionaryAttr(entry) for entry in entries])

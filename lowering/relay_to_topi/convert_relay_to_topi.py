"""`convert-relay-to-topi`: operators inside kernels become topi.

Every private function with the attribute `relay.primitive` is a kernel. Composite ops without an implementation are
expanded; then each relay op is replaced by the ops that the selected implementation builds. `@main` keeps its constants
and calls. An operator may have several valid implementations (strategies); the kernel's attribute `topi.strategies`
records the selection with its reason.

Before:

    func.func private @fused_nn_relu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
      %y = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }

After:

    func.func private @fused_nn_relu(%x: tensor<4xf32>) -> tensor<4xf32>
        attributes {relay.primitive, topi.strategies = […]} {
      %y = topi.compute "nn_relu" [%i0 : 4] : tensor<4xf32> { … }
      func.return %y : tensor<4xf32>
    }

Extents may be named dimensions: one text is valid for all sizes. A kernel computes a result whose length depends on the
data in a buffer of the maximum length, and returns it with its length; the caller cuts it (`counted_results`).

Raises `LoweringError` with the op's location for an op without a valid implementation, for an extent that has neither a
value nor a name, for a named extent if the implementation needs an integer, and for a constant of more than one element
inside a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, UnrealizedConversionCastOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, tuple_fields
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.dyn.shapes import ShapeOperandOp
from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.attribute_names import DEMANDS, PRIMITIVE, REQUIRES, SOURCES, STRATEGIES
from xrelay.dialects.shared.locations import source_names, sources_of
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.topi.build import Body, compute
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import ANY
from xrelay.lowering.relay_to_topi import registry as strategies
from xrelay.lowering.relay_to_topi.counted_results import Counts, cut_results, split_results
from xrelay.passes.fusion.outline_fused import is_kernel_constant
from xrelay.passes.graph.composites import expand_composites
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter, apply_conversion, legal_outside
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates


@dataclass(frozen=True)
class ConvertRelayToTopiPass(XRelayPass):
    """Operators inside kernels become topi, by strategy."""

    name = "convert-relay-to-topi"
    numerics = reassociates("the computation of an operator may take sums in another order")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every kernel of the module."""
        strategies.load()
        _record_requirements(op)
        functions = [function for function in op.body.block.ops if isinstance(function, FuncOp)]
        kernels = {f.sym_name.data: f for f in functions if PRIMITIVE in f.attributes}
        counts: dict[str, Counts] = {}
        for name, kernel in kernels.items():
            convert_kernel(kernel)
            counts[name] = split_results(kernel)
        for function in functions:
            if function.sym_name.data not in kernels and function.body.blocks:
                cut_results(function, kernels, counts)


def convert_kernel(kernel: FuncOp) -> None:
    """Converts a kernel in place, and records its sources and the selected implementations."""
    if sources := kernel_sources(kernel):
        kernel.attributes[SOURCES] = ArrayAttr([StringAttr(source) for source in sources])
    expand_composites(kernel, *Expansion)
    choices: list[str] = []
    patterns = [LowerTuple(), LowerTupleGetItem(), LowerScalarConstant(), LowerByStrategy(choices)]
    apply_conversion(kernel, patterns, is_legal=legal_outside("relay"))
    for op in reversed(list(kernel.body.block.ops)):
        if isinstance(op, UnrealizedConversionCastOp) and not any(result.uses for result in op.results):
            op.detach()
            op.erase()
    kernel.attributes[STRATEGIES] = ArrayAttr([StringAttr(choice) for choice in choices])


def kernel_sources(kernel: FuncOp) -> list[str]:
    """Returns the names of the source nodes that a kernel computes, in order, each once."""
    found: dict[str, None] = {}
    for op in walk_ops(kernel):
        found |= dict.fromkeys(source_names(op.location))
    return list(found)


def _has_no_known_shape(op: RelayOp) -> bool:
    """Returns whether the shape depends on the data, and no implementation computes the length of the result."""
    if isinstance(op, ShapeOperandOp) and (new_extents(op) or ANY in shape_of(op.results[0].type)):
        return True
    return not strategies.STRATEGIES.implementations(type(op))


class LowerByStrategy(ConversionPattern[RelayOp]):
    """`%y = relay.op(%x)` → the ops of the chosen implementation."""

    def __init__(self, choices: list[str]):
        self._choices = choices

    def rewrite(self, op: RelayOp, rewriter: ConversionRewriter) -> str | None:
        """Builds the valid implementation of greatest priority."""
        if op.shape_depends_on_data and _has_no_known_shape(op):
            return "its shape is known only at run time, and native code needs known shapes; fix them with shapes={…}"
        try:
            selection = strategies.STRATEGIES.select(op)
            tensors = selection.implementation.build(TopiBuilder(op, rewriter))
        except LoweringError as error:
            return error.message
        self._choices.append(f"{op.name}: {selection.implementation.name} ({selection.reason})")
        rewriter.replace(op, [_packed(tensors, op, rewriter)])
        return None


class LowerTuple(ConversionPattern[TupleOp]):
    """`relay.tuple(%a, %b)` → a cast, whose operands replace the fields that its readers extract."""

    def rewrite(self, op: TupleOp, rewriter: ConversionRewriter) -> str | None:
        """Replaces the tuple with a cast."""
        rewriter.replace(op, rewriter.insert(UnrealizedConversionCastOp.get(list(op.operands), [op.results[0].type])))
        return None


class LowerTupleGetItem(ConversionPattern[TupleGetItemOp]):
    """`relay.tuple_get_item(%t) {index = 1}` → the tensor itself."""

    def rewrite(self, op: TupleGetItemOp, rewriter: ConversionRewriter) -> str | None:
        """Replaces the field with the operand of the cast."""
        emitter = TopiBuilder(op, rewriter)
        try:
            fields = tuple_fields(op.operands[0])
        except LoweringError as error:
            return error.message
        rewriter.replace(op, [fields[emitter.integer("index")]])
        return None


class LowerScalarConstant(ConversionPattern[ConstantOp]):
    """`relay.constant dense<2.0> : tensor<f32>` → a compute without index variables, which is inlined later."""

    def rewrite(self, op: ConstantOp, rewriter: ConversionRewriter) -> str | None:
        """Replaces a constant of one element, or refuses a larger one, which must be a parameter of the kernel."""
        if not is_kernel_constant(op):
            return f"a constant of type {op.result.type} is inside a kernel; it must be a parameter"
        number = op.array.reshape(-1)[0].item()
        names = {f"i{axis}": 1 for axis in range(op.array.ndim)}
        element = op.result.type.element_type

        def body(b: Body) -> list[SSAValue]:
            return [b.constant(number, element)]

        rewriter.replace(op, rewriter.insert(compute("constant", names, [element], body)))
        return None


def _packed(tensors: Sequence[SSAValue], op: Operation, rewriter: ConversionRewriter) -> SSAValue:
    """Returns the op's result: its tensor, or a cast of its tensors to a tuple."""
    if len(tensors) == 1 and tensors[0].type == op.results[0].type:
        return tensors[0]
    return rewriter.insert(UnrealizedConversionCastOp.get(list(tensors), [op.results[0].type])).results[0]


def _record_requirements(module: ModuleOp) -> None:
    """Records the requirements of a kernel's ops on each of its calls, as rows of op, requirements and source nodes.

    Kernels contain no checks: below relay they have extents as arguments, without the expressions for them. Call and
    kernel share the names of dimensions.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    requirements = {f.sym_name.data: _requirements(f) for f in functions if PRIMITIVE in f.attributes}
    if not any(requirements.values()):
        return
    for function in functions:
        for op in function.walk():
            if isinstance(op, CallOp) and (rows := requirements.get(op.callee.string_value())):
                op.attributes[DEMANDS] = ArrayAttr(rows)


def _requirements(kernel: FuncOp) -> list[DictionaryAttr]:
    return [_row(op, op.attributes[REQUIRES]) for op in kernel.walk() if REQUIRES in op.attributes]


def _row(op: Operation, requires: Attribute) -> DictionaryAttr:
    row: dict[str, Attribute] = {"op": StringAttr(op.name), "requires": requires}
    if (sources := sources_of(op)) is not None:
        row["sources"] = sources
    return DictionaryAttr(row)

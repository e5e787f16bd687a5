"""Renames extents that closures cannot receive, for `relay-lift-closures`.

The result of a call may have an extent such as `k floordiv 2 + k`, whose name `k` only the callee can compute: no value
determines `k`. A closure that captures the result needs `k` for its types, but no caller can pass `k` to it. Such a
value is wrapped in an optional, whose type has no extents, and unwrapped again, so that its extents get new names that
the value itself determines.

    %v = relay.invoke %f(%x) {relay.binds = #relay.bounds<k>} : … -> tensor<?xf32, #relay.dims<k floordiv 2 + k>>
    %g = relay.fn(%b: tensor<f32>) -> tensor<f32> {
      %s = relay.sum(%v)
      …

becomes

    %o = relay.optional_construct(%v) : … -> !relay.optional<tensor<?xf32>>
    %w = relay.optional_get_element(%o) {relay.binds = #relay.bounds<d>} : … -> tensor<?xf32, #relay.dims<d>>
    %g = relay.fn(%b: tensor<f32>) -> tensor<f32> {
      %s = relay.sum(%w)
      …
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import NamedCallOp, names_in
from xrelay.dialects.relay.structure.containers import OptionalConstructOp, OptionalGetElementOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.shared.attribute_names import BINDS, REQUIRES
from xrelay.dialects.shared.dim_bindings_attr import DimBindingsAttr
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.types import IncompleteType
from xrelay.index_algebra.dims import names_of
from xrelay.passes.functions.closure_captures import unsupplied_names
from xrelay.passes.graph.dim_substitution import DimNamesOfOps
from xrelay.passes.graph.replacements import retype
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.infer_type import infer_types


def name_captured_extents(module: ModuleOp, functions: Sequence[FnOp]) -> None:
    """Renames extents of values that the closures `functions` of `module` capture, if the values do not determine them.

    `functions` contains outer functions before inner ones.
    """
    changed = False
    # The inner functions then capture the values renamed for the outer ones.
    for function in functions:
        names = unsupplied_names(function)
        captured = _captured(function, names) if names else []
        for value in captured:
            _replace_inside(function, value, _with_own_names(value, function))
        if captured:
            _forget_types(function, names)
            changed = True
    if changed:
        infer_types(module)


def _captured(function: FnOp, names: Collection[str]) -> list[SSAValue]:
    """The tensors from outside of `function` that it uses and whose extents contain one of `names`."""
    inside = {value for op in walk_ops(function) for value in defined_values(op)}
    used = dict.fromkeys(value for op in walk_ops(function) for value in op.operands if value not in inside)
    return [value for value in used if isinstance(value.type, TensorType) and set(names) & set(names_in([value.type]))]


def _with_own_names(value: SSAValue, function: FnOp) -> SSAValue:
    """Inserts ops before `function` that yield `value` with new names for extents that are not numbers."""
    held = OptionalConstructOp.call(value)
    got = OptionalGetElementOp.call(held.results[0])
    for op in (held, got):
        op.location = function.location
    Rewriter.insert_op([held, got], InsertPoint.before(function))
    return got.results[0]


def _replace_inside(function: FnOp, old: SSAValue, new: SSAValue) -> None:
    for op in walk_ops(function):
        if any(value is old for value in op.operands):
            op.operands = [new if value is old else value for value in op.operands]


def _forget_types(function: FnOp, names: Collection[str]) -> None:
    """Removes types with `names` in `function`, and requirements and bindings of their ops, for type inference."""
    types: dict[SSAValue, Attribute] = {}
    used_names = DimNamesOfOps()
    for op in walk_ops(function):
        if set(names).isdisjoint(used_names.of(op)):
            continue
        types.update((value, IncompleteType()) for value in defined_values(op) if _has_names(value.type, names))
        for key in (REQUIRES, BINDS):
            op.attributes.pop(key, None)
        if isinstance(op, NamedCallOp):
            op.bindings = DimBindingsAttr.of(
                {name: dim for name, dim in op.names.items() if set(names).isdisjoint(names_of(dim))}
            )
    retype(types)


def _has_names(type: Attribute, names: Collection[str]) -> bool:
    return not isinstance(type, FunctionType) and bool(set(names) & set(names_in([type])))

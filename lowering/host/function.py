"""Rewrites a graph function to the loop level: it calls kernels with the buffers of their results.

If the inputs have named dimensions, the function takes the size of each name after its buffers, and computes the
extents of allocations and kernels from them (`sizes`). A result whose size does not follow from these names is returned
as a buffer, which then belongs to the caller, followed by its dynamic extents.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.shared.attribute_names import CONTAINER, DIM, LOOP_DIMS, OUTPUT_PLACE, REQUIRES
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.requirements import RequirementsAttr, requirements_of
from xrelay.dialects.shared.types import dims_in
from xrelay.index_algebra.dims import symbol
from xrelay.lowering.host.calls import follows_from
from xrelay.lowering.host.code import HostCode, HostModule
from xrelay.lowering.host.signature import FunctionRewriting, ReturnedResult, is_container
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs
from xrelay.registrations import import_modules


def lower_graph_function(function: func.FuncOp, module: HostModule) -> set[str]:
    """Rewrites `function` in place, after its kernels. Returns the kernels with a call that became scalar code.

    Results that are inputs, constants or other results are copied.
    """
    import_modules("xrelay.lowering.host")
    rewriting = FunctionRewriting(function)
    code = HostCode(rewriting, module)
    names = names_in(function.function_type.inputs)
    containers = {n: type for n, type in enumerate(function.function_type.inputs) if is_container(type)}
    written = [value for value in rewriting.last.operands if follows_from(names, value.type)]
    outputs = _add_arguments(rewriting, written, names, code)
    copied = rewriting.assign_destinations(written, outputs, code.takes_destination)
    for op in rewriting.ops:
        code.lower(op)
    for value, output in copied:
        code.copy(code.buffers[value], output)
    returned = _returned_results(rewriting, names, code)
    rewriting.finish(len(outputs), returned)
    code.sizes.finish()
    _set_argument_attributes(rewriting, names, containers, code)
    if function.sym_visibility is not None and function.sym_visibility.data == "private":
        _qualify_names(function)
    return code.inlined


def _add_arguments(
    rewriting: FunctionRewriting, written: Sequence[SSAValue], names: Sequence[str], code: HostCode
) -> list[SSAValue]:
    """Adds arguments for inputs, results and sizes; returns those for results, whose extents are computed first."""
    outputs = rewriting.add_arguments(written)
    for argument, value in zip(rewriting.block.args, (*rewriting.inputs, *written), strict=True):
        code.with_dims(argument, list(dims_in(value.type)))
    code.sizes.bind_arguments(names)
    if all(requirement.names <= set(names) for requirement in requirements_of(rewriting.last)):
        code.require()
    for output in outputs:
        code.extents(code.dims.get(output, ()))
    return outputs


def _returned_results(rewriting: FunctionRewriting, names: Sequence[str], code: HostCode) -> list[ReturnedResult]:
    """Returns the buffers and extents of the results that the caller has no buffers for."""
    last = rewriting.last
    if any(not requirement.names <= set(names) for requirement in requirements_of(last)):
        code.require()
    rest = {number: value for number, value in enumerate(last.operands) if not follows_from(names, value.type)}
    buffers = code.pass_outward(list(rest.values()), [value.type for value in rest.values()])
    found: list[ReturnedResult] = []
    for (number, value), buffer in zip(rest.items(), buffers, strict=True):
        dims = list(dims_in(value.type))
        attributes: dict[str, Attribute] = (
            {CONTAINER: value.type} if is_container(value.type) else {LOOP_DIMS: DimsAttr(tuple(dims))}
        )
        attributes[OUTPUT_PLACE] = IntegerAttr(number, i64)
        found.append(ReturnedResult(number, [buffer, *code.extents(dims)], attributes))
    return found


def _set_argument_attributes(
    rewriting: FunctionRewriting, names: Sequence[str], containers: dict[int, Attribute], code: HostCode
) -> None:
    """Records the types of lists, the dynamic extents of buffers, and the names of sizes on the arguments."""
    if not names and not containers:
        return
    attrs = argument_attrs(rewriting.function)
    for number, type in containers.items():
        attrs[number][CONTAINER] = type
    for attr, argument in zip(attrs, rewriting.block.args, strict=True):
        if dims := code.dims.get(argument):
            attr[LOOP_DIMS] = DimsAttr(tuple(dims))
    for attr, name in zip(attrs[len(attrs) - len(names) :], names, strict=True):
        attr[DIM] = StringAttr(name)
    set_argument_attrs(rewriting.function, attrs)


def _qualify_names(function: func.FuncOp) -> None:
    """Renames the names in the requirements of a private function's assertions, as `@main` may use the same names.

    In `@f`, `n == 3` becomes `n_of_f == 3`; the messages of assertions stay.
    """
    for op in walk_ops(function):
        requires = op.attributes.get(REQUIRES)
        if isinstance(op, cf.AssertOp) and isinstance(requires, RequirementsAttr):
            names = {name for requirement in requires.data for name in requirement.names}
            own = {name: symbol(f"{name}_of_{function.sym_name.data}") for name in names}
            op.attributes[REQUIRES] = RequirementsAttr(tuple(each.substitute(own) for each in requires.data))

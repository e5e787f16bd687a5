"""Kernels in modules of their own: taken out of a module at the loop level, each with its versions.

```
func.func @main(…) {…  func.call @relu_3(%x, %y) …}        func.func @main(…) {…  func.call @relu_3(%x, %y) …}
func.func private @relu_3(%p: T, %r: T)               →    func.func private @relu_3(T, T)
    attributes {loop.kernel} {…}                               attributes {loop.kernel}

                                                           func.func private @kernel(%0: T {llvm.noalias},
                                                               %1: T {llvm.noalias}) attributes {loop.kernel,
                                                               loop.takes_scratch} {…}
```

What its callers let a kernel rely on stands in its own module: which arguments overlap no other, and whether it is
given the memory that it works in. So the text of the module says all that decides the kernel's code, whatever the
kernel is called and whoever calls it. It goes through the same stages as a whole module.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.versions import KernelVersion, versions_by_kernel
from xrelay.dialects.shared.attribute_names import (
    HEAP,
    KERNEL_ANCHOR,
    LOOP_DIMS,
    LOOP_KERNEL,
    MAY_FAIL,
    NUM_SCRATCH,
    SCHEDULE_REASON,
    SOURCES,
    STRATEGIES,
    TAKES_SCRATCH,
    TE_SCHEDULE,
    VERSION,
)
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.passes.loop.hoist_scratch import pass_declared_scratch
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.noalias import mark_noalias

KERNEL = "kernel"
"""The symbol of every kernel in its own module; other functions there have names that begin with it."""
_PRIVATE = StringAttr("private")
_NOT_OF_ITS_CODE = (SOURCES, STRATEGIES, KERNEL_ANCHOR, SCHEDULE_REASON, LOOP_DIMS)
"""Attributes of a kernel that name its model, its ops and the reasons for its form. Registered schedules, which read
them, have been assigned."""


@dataclass
class KernelUnit:
    """A kernel in a module of its own."""

    name: str
    """Its symbol in the module that it was taken from."""
    module: ModuleOp
    declaration: func.FuncOp
    """What stands in that module."""
    calls: Sequence[func.CallOp]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the model's nodes that it computes."""
        sources = self.declaration.attributes.get(SOURCES)
        return tuple(each.data for each in sources) if is_attribute(sources, ArrayAttr[StringAttr]) else ()


def take_units(module: ModuleOp, *, with_extents: bool) -> list[KernelUnit]:
    """Takes the private kernels out of a module, those that take extents or have versions only `with_extents`.

    Left are kernels that call functions or refer to globals. `declare_lowered` tells the module what comes of them.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    versions = versions_by_kernel(kernels_of(module))
    taken = [
        kernel
        for kernel in kernels_of(module)
        if kernel.sym_visibility == _PRIVATE
        and VERSION not in kernel.attributes
        and (with_extents or not (index_arguments(kernel) or kernel.sym_name.data in versions))
        and _stands_alone(kernel)
        and all(_stands_alone(own) for own, _ in versions.get(kernel.sym_name.data, ()))
    ]
    calls = _calls(module)
    main = functions.get("main")
    main = main if main is not None and main.body.blocks else None
    mark_noalias({kernel.sym_name.data: kernel for kernel in taken}, calls, main)
    own = set[Operation](all_ops(main)) if main is not None else set[Operation]()
    units: list[KernelUnit] = []
    for kernel in taken:
        sites = calls.get(kernel.sym_name.data, ())
        if sites and own.issuperset(sites):
            kernel.attributes[TAKES_SCRATCH] = UnitAttr()
        units.append(_take(kernel, versions.get(kernel.sym_name.data, ()), sites))
    return units


def declare_lowered(unit: KernelUnit, kernel: func.FuncOp | None, *, may_fail: bool) -> None:
    """Lets the declaration of a unit, and calls of it, give it memory to work in, as the declaration `kernel` says.

    What the kernel allocates for itself stands there too.
    """
    declaration = unit.declaration
    if kernel is not None and NUM_SCRATCH in kernel.attributes:
        declaration.function_type = kernel.function_type
        declaration.arg_attrs = kernel.arg_attrs
        declaration.attributes[NUM_SCRATCH] = kernel.attributes[NUM_SCRATCH]
        pass_declared_scratch(declaration, unit.calls)
    if kernel is not None and HEAP in kernel.attributes:
        declaration.attributes[HEAP] = kernel.attributes[HEAP]
    if may_fail:
        declaration.attributes[MAY_FAIL] = UnitAttr()


def kernel_of(module: ModuleOp) -> func.FuncOp:
    """The kernel of a unit's module, while it is in the func dialect."""
    return next(op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == KERNEL)


def declaration_of(kernel: func.FuncOp) -> func.FuncOp:
    """A declaration of a kernel as it is now, which says what callers have to know."""
    declaration = func.FuncOp(
        kernel.sym_name.data, kernel.function_type, Region(), "private", arg_attrs=kernel.arg_attrs
    )
    kept = (LOOP_KERNEL, NUM_SCRATCH, HEAP, SOURCES)
    declaration.attributes |= {name: kernel.attributes[name] for name in kept if name in kernel.attributes}
    return declaration


def _take(
    kernel: func.FuncOp, versions: Sequence[tuple[func.FuncOp, KernelVersion]], calls: Sequence[func.CallOp]
) -> KernelUnit:
    """A kernel with its versions in a module of its own; a declaration in its place."""
    name, declaration = kernel.sym_name.data, declaration_of(kernel)
    declaration.location = kernel.location
    Rewriter.insert_op(declaration, InsertPoint.before(kernel))
    functions = [kernel]
    for attribute in _NOT_OF_ITS_CODE:
        if attribute != LOOP_DIMS or not versions:
            kernel.attributes.pop(attribute, None)
    for number, (own, told) in enumerate(versions):
        own.attributes[VERSION] = KernelVersion(KERNEL, told.sizes, "").attribute()
        symbol = own.sym_name.data
        own.sym_name = StringAttr(
            KERNEL + (symbol.removeprefix(name) if symbol.startswith(name) else f"_version{number}")
        )
        for attribute in _NOT_OF_ITS_CODE:
            if attribute != LOOP_DIMS:
                own.attributes.pop(attribute, None)
        functions.append(own)
    kernel.sym_name = StringAttr(KERNEL)
    for function in functions:
        function.detach()
        _forget_names(function)
    return KernelUnit(name, ModuleOp(list[Operation](functions)), declaration, calls)


def _forget_names(function: func.FuncOp) -> None:
    """Removes the names of values, which differ between models, and of schedules, which have been assigned."""
    for op in all_ops(function):
        op.attributes.pop(TE_SCHEDULE, None)
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None


def _stands_alone(kernel: func.FuncOp) -> bool:
    """Whether no op in a kernel refers to a symbol of the module."""
    inside = [op for op in all_ops(kernel) if op is not kernel]
    kinds = {type(each) for op in inside for each in (*op.properties.values(), *op.attributes.values())}
    return not any(SymbolRefAttr in kind.__mro__ for kind in kinds)


def _calls(module: ModuleOp) -> dict[str, list[func.CallOp]]:
    """The calls of each function."""
    calls: defaultdict[str, list[func.CallOp]] = defaultdict(list)
    for op in ops_of(module, func.CallOp):
        calls[op.callee.string_value()].append(op)
    return calls

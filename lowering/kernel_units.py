"""Kernel units: kernels moved out of a module at the loop level, each with its versions into a module of its own.

```
func.func @main(…) {…  func.call @relu_3(%x, %y) …}        func.func @main(…) {…  func.call @relu_3(%x, %y) …}
func.func private @relu_3(%p: T, %r: T)               →    func.func private @relu_3(T, T)
    attributes {loop.kernel} {…}                               attributes {loop.kernel}

                                                           func.func private @kernel(%0: T {llvm.noalias},
                                                               %1: T {llvm.noalias}) attributes {loop.kernel,
                                                               loop.takes_scratch} {…}
```

The unit's module also holds the guarantees of the kernel's callers: which arguments overlap no other, and whether the
caller passes scratch memory. So the text of the module determines the kernel's code, independently of its name and its
callers. The module goes through the same stages as a whole program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop.versions import KernelVersion, versions_by_kernel
from xrelay.dialects.shared.attribute_names import (
    HEAP,
    KERNEL_ANCHOR,
    LOOP_DIMS,
    LOOP_KERNEL,
    MAY_FAIL,
    NUM_SCRATCH,
    SCHEDULE_CYCLES,
    SCHEDULE_REASON,
    SOURCES,
    STRATEGIES,
    TAKES_SCRATCH,
    TE_SCHEDULE,
    VERSION,
    WORK,
)
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import all_ops, calls_by_callee
from xrelay.dialects.shared.op_making import copy
from xrelay.lowering.kernel_work import kernel_work
from xrelay.passes.loop.memory.hoist_scratch import pass_declared_scratch
from xrelay.passes.loop.memory.noalias import mark_noalias
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.runtime.kernel_work import KernelWork

KERNEL = "kernel"
"""The symbol of the kernel in every unit; the names of other functions in the unit begin with it."""
_PRIVATE = StringAttr("private")
_NOT_OF_ITS_CODE = (SOURCES, STRATEGIES, KERNEL_ANCHOR, SCHEDULE_REASON, SCHEDULE_CYCLES, WORK, LOOP_DIMS)
"""Attributes of a kernel that do not affect its code: they name its model, its ops and the reasons for its form.

Registered schedules read some of them, but have been assigned by then.
"""


@dataclass
class KernelUnit:
    """A kernel in a module of its own."""

    name: str
    """The kernel's symbol in the original module."""
    module: ModuleOp
    declaration: func.FuncOp
    """The declaration that replaces the kernel in the original module."""
    calls: Sequence[func.CallOp]
    work: KernelWork | None = None
    """The work of a kernel that has its schedule already."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Returns the names of the model's nodes that the kernel computes."""
        return sources_of(self.declaration)


def sources_of(kernel: func.FuncOp) -> tuple[str, ...]:
    """Returns the names of the model's nodes that a kernel computes."""
    sources = kernel.attributes.get(SOURCES)
    return tuple(each.data for each in sources) if is_attribute(sources, ArrayAttr[StringAttr]) else ()


def take_units(module: ModuleOp) -> list[KernelUnit]:
    """Moves the private kernels of a module into units, except those that call functions or refer to globals.

    `declare_lowered` updates the declaration after lowering.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    versions = versions_by_kernel(kernels_of(module))
    taken = [
        kernel
        for kernel in kernels_of(module)
        if kernel.sym_visibility == _PRIVATE
        and VERSION not in kernel.attributes
        and _is_self_contained(kernel)
        and all(_is_self_contained(own) for own, _ in versions.get(kernel.sym_name.data, ()))
    ]
    calls = calls_by_callee(module)
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


def isolated_kernel(kernel: func.FuncOp) -> ModuleOp:
    """Returns a copy of a kernel in a module of its own, as `@kernel`, without the names of its model.

    Equal kernels of all models have the same text. The guarantees of a unit about callers are absent.
    """
    own = copy(kernel)
    for attribute in _NOT_OF_ITS_CODE:
        own.attributes.pop(attribute, None)
    own.sym_name = StringAttr(KERNEL)
    _forget_names(own)
    return ModuleOp([own])


def declare_lowered(unit: KernelUnit, kernel: func.FuncOp | None, *, may_fail: bool) -> None:
    """Updates the declaration and the calls of a unit so that they match the lowered kernel's declaration.

    They pass scratch memory if the kernel takes it; the declaration also gets the kernel's own heap allocations.
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
    """Returns the kernel of a unit's module, which must still be in the func dialect."""
    return next(op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == KERNEL)


def declaration_of(kernel: func.FuncOp) -> func.FuncOp:
    """Returns a declaration of a kernel with its current type and the attributes that callers need."""
    declaration = func.FuncOp(
        kernel.sym_name.data, kernel.function_type, Region(), "private", arg_attrs=kernel.arg_attrs
    )
    kept = (LOOP_KERNEL, NUM_SCRATCH, HEAP, SOURCES)
    declaration.attributes |= {name: kernel.attributes[name] for name in kept if name in kernel.attributes}
    return declaration


def _take(
    kernel: func.FuncOp,
    versions: Sequence[tuple[func.FuncOp, KernelVersion]],
    calls: Sequence[func.CallOp],
) -> KernelUnit:
    """Moves a kernel with its versions into a module of its own, and leaves a declaration."""
    name, declaration = kernel.sym_name.data, declaration_of(kernel)
    declaration.location = kernel.location
    Rewriter.insert_op(declaration, InsertPoint.before(kernel))
    functions = [kernel]
    work = kernel_work(kernel) if SCHEDULE_REASON in kernel.attributes else None
    for attribute in _NOT_OF_ITS_CODE:
        if attribute != LOOP_DIMS or not versions:
            kernel.attributes.pop(attribute, None)
    for number, (own, version) in enumerate(versions):
        own.attributes[VERSION] = KernelVersion(KERNEL, version.sizes, "").attribute()
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
    return KernelUnit(name, ModuleOp(list[Operation](functions)), declaration, calls, work)


def _forget_names(function: func.FuncOp) -> None:
    """Removes names of values, which differ between models, and names of schedules, which have been assigned."""
    for op in all_ops(function):
        op.attributes.pop(TE_SCHEDULE, None)
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None


def _is_self_contained(kernel: func.FuncOp) -> bool:
    """Whether no op in a kernel refers to a symbol of the module."""
    inside = [op for op in all_ops(kernel) if op is not kernel]
    kinds = {type(each) for op in inside for each in (*op.properties.values(), *op.attributes.values())}
    return not any(SymbolRefAttr in kind.__mro__ for kind in kinds)

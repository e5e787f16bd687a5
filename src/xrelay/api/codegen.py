"""Emits LLVM IR from the llvm dialect, one LLVM module per kernel, so that they compile in parallel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerType, LocationAttr, ModuleOp, StringAttr, SymbolRefAttr, VectorType
from xdsl.ir import Attribute, Block, Operation

from xrelay.dialects.loop.signature import PLAN
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.lowering.emit_llvm import emit_llvm_ir
from xrelay.lowering.loop_to_scf.checked_index import RECORD_INDEX
from xrelay.lowering.to_llvm.expansions.inlined_ops import is_always_inline
from xrelay.lowering.to_llvm.ops import EXTERNAL
from xrelay.lowering.to_llvm.ops import function as llvm_function
from xrelay.lowering.to_llvm.runtime_functions import BUFFER_FUNCTIONS, SCRATCH_FUNCTIONS
from xrelay.passes.infra.conversion import dispose
from xrelay.runtime.abi import ENTRY_SYMBOL, PLAN_SYMBOL
from xrelay.target.target import Target

_GLUE = frozenset({"main", PLAN, ENTRY_SYMBOL, PLAN_SYMBOL, *BUFFER_FUNCTIONS})
"""The functions around the kernels: entries, `@main` and the functions of dynamic buffers."""

_COPIED: Final = frozenset({RECORD_INDEX, *SCRATCH_FUNCTIONS})

NO_SYMBOLS: Final[Mapping[str, str]] = MappingProxyType({})


class Piece(NamedTuple):
    """LLVM IR of a part of a module."""

    text: str
    is_glue: bool
    """Whether the part only calls kernels, and so gains nothing from LLVM's optimiser."""
    locations: Mapping[int, LocationAttr]
    """The source locations of instructions by line, counted from 0."""


def llvm_texts(module: ModuleOp, target: Target, symbols: Mapping[str, str] = NO_SYMBOLS) -> list[Piece]:
    """Returns LLVM IR of `module` in pieces that reference each other only by calls to kernels. Consumes the module.

    A kernel is in one piece with the functions and globals that only it uses: bodies of parallel loops, tables.
    `@main`, the entries and the functions of dynamic buffers form another piece. Functions that are always inlined or
    manage scratch memory, and the function that records an index, are copied into each piece that uses them. A module
    for another architecture is one piece, since the linker of this machine may not join its objects. `symbols` maps
    functions that are only declared to their symbols in object code.
    """
    if target.triple is not None:
        return [_piece(module, target, is_glue=False)]
    defined: dict[str, Operation] = {}
    declared: dict[str, Operation] = {}
    for op in module.ops:
        if isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr):
            (declared if _is_declaration(op) else defined)[name.data] = op
    copied = {name: op for name, op in defined.items() if _is_copied(op)}
    references = {name: _references(op) for name, op in defined.items() if name not in copied}
    pieces: list[Piece] = []
    components = [_split_by_pipeline(names, defined, references) for names in _components(references)]
    for names in (names for parts in components for names in parts):
        outside = sorted(_used(names, references, copied).difference(names))
        copies = [copy(copied[name]) for name in outside if name in copied]
        declarations = [_declaration(declared.get(name, defined.get(name))) for name in outside if name not in copied]
        kernels = references.keys() | symbols.keys()
        is_glue = ENTRY_SYMBOL in names and not any(_computes(defined[name], kernels) for name in names)
        part = _module([*copies, *(defined[name] for name in names)], declarations, symbols)
        pieces.append(_piece(part, target, is_glue=is_glue))
    for op in defined.values():
        for region in op.regions:
            dispose(region)
    return pieces


def _used(names: Iterable[str], references: Mapping[str, set[str]], copied: Mapping[str, Operation]) -> set[str]:
    """Returns the symbols that functions reference, directly or through copied functions."""
    found: set[str] = set()
    pending = [used for name in names for used in references[name]]
    while pending:
        if (name := pending.pop()) not in found:
            found.add(name)
            pending += _references(copied[name]) if name in copied else ()
    return found


def _components(references: dict[str, set[str]]) -> list[list[str]]:
    """Returns the connected components of symbols in module order, without references from `@main` and entries."""
    entry = [name for name in references if name in _GLUE]
    neighbours: dict[str, set[str]] = {name: set() for name in references}
    for name in references.keys() - entry:
        for other in references[name] & references.keys():
            neighbours[name].add(other)
            neighbours[other].add(name)
    components = [entry]
    seen = set(entry)
    for start in references:
        pending = [start]
        component: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                component.add(name)
                pending += neighbours[name]
        if component:
            components.append([name for name in references if name in component])
    return [component for component in components if component]


def _split_by_pipeline(
    names: list[str], defined: Mapping[str, Operation], references: Mapping[str, set[str]]
) -> list[list[str]]:
    """Splits a component in two if some of its functions store vectors and others only scalars.

    LLVM has a pass pipeline for each kind (`vector_passes.py`); the scalar one costs several times as much on vector
    code. Tables stay with the functions that use them. If both kinds use one table, the component is not split.
    """
    stored = {name: _stored_kinds(defined[name]) for name in names}
    scalar = {name for name, kinds in stored.items() if kinds and VectorType not in kinds}
    if not scalar or not any(VectorType in kinds for kinds in stored.values()) or not _GLUE.isdisjoint(names):
        return [names]
    tables = {used for name in scalar for used in references[name] if isinstance(defined.get(used), llvm.GlobalOp)}
    rest = [name for name in names if name not in scalar and name not in tables]
    if any(not tables.isdisjoint(references[name]) for name in rest):
        return [names]
    return [rest, [name for name in names if name in scalar or name in tables]]


def _stored_kinds(op: Operation) -> set[type[Attribute]]:
    """Returns the attribute classes of the types that a function stores, except pointers."""
    return {type(store.value.type) for store in ops_of(op, llvm.StoreOp)} - {llvm.LLVMPointerType}


def _module(
    functions: Iterable[Operation], declarations: Iterable[llvm.FuncOp | None], symbols: Mapping[str, str]
) -> ModuleOp:
    """Moves some ops of a module into a new module."""
    announced = {symbols.get(op.sym_name.data, op.sym_name.data): op for op in declarations if op is not None}
    ops: list[Operation] = list(announced.values())
    for op in functions:
        if op.parent is not None:
            op.detach()
        if isinstance(op, llvm.FuncOp) and op.sym_visibility is None and not _is_copied(op):
            op.linkage = EXTERNAL
        ops.append(op)
    module = ModuleOp(ops)
    if symbols:
        rename_symbols(module, symbols)
    return module


def rename_symbols(module: ModuleOp, names: Mapping[str, str]) -> None:
    """Renames functions of a module in the llvm dialect, and all references to them."""
    new = {name: SymbolRefAttr(renamed) for name, renamed in names.items()}
    for op in all_ops(module):
        for kind in (op.properties, op.attributes):
            for key, value in kind.items():
                if type(value) is SymbolRefAttr and value.root_reference.data in new:
                    kind[key] = new[value.root_reference.data]
        if type(op) is llvm.FuncOp and op.sym_name.data in names:
            op.sym_name = StringAttr(names[op.sym_name.data])


def _piece(module: ModuleOp, target: Target, *, is_glue: bool) -> Piece:
    locations: dict[int, LocationAttr] = {}
    text = emit_llvm_ir(
        module,
        target_triple=target.triple,
        target_cpu=target.mcpu,
        target_features=",".join(target.code_features()) if target.features else None,
        prefer_vector_width=target.vector_bits,
        locations=locations,
    )
    return Piece(text, is_glue, locations)


def _is_copied(op: Operation) -> bool:
    """Whether each piece that calls a function has its own copy."""
    return is_always_inline(op) or (isinstance(op, llvm.FuncOp) and op.sym_name.data in _COPIED)


def _is_declaration(op: Operation) -> bool:
    """Whether an op is a function without a body."""
    return isinstance(op, llvm.FuncOp) and not op.body.blocks


def _computes(op: Operation, kernels: Collection[str]) -> bool:
    """Whether a function around `kernels` computes itself: it stores floats, or stores in a loop that calls no kernel.

    Such a function may still store integers, counters, extents and addresses, and copy loaded values.
    """
    if not isinstance(op, llvm.FuncOp):
        return False
    if any(_stores_floats(each) for block in op.body.blocks for each in block.ops):
        return True
    inside: set[Block] = set()
    for body in sorted(_loops(op.body.blocks[0]), key=len):
        if inside.isdisjoint(body):
            inside.update(body)
            ops = [each for block in body for each in block.ops]
            if any(isinstance(each, llvm.StoreOp) for each in ops) and not any(_calls(each, kernels) for each in ops):
                return True
    return False


def _loops(entry: Block) -> list[set[Block]]:
    """Returns the blocks of each natural loop of a function.

    A block may also branch to an earlier block outside of loops, such as the exit for errors.
    """
    predecessors: dict[Block, list[Block]] = {entry: []}
    path, ends, pending = set[Block](), list[tuple[Block, Block]](), [(entry, iter(_successors(entry)))]
    path.add(entry)
    while pending:
        block, targets = pending[-1]
        target = next(targets, None)
        if target is None:
            path.remove(block)
            pending.pop()
            continue
        if target in path:
            ends.append((block, target))
        if target not in predecessors:
            predecessors[target] = []
            path.add(target)
            pending.append((target, iter(_successors(target))))
        predecessors[target].append(block)
    return [_body(end, first, predecessors) for end, first in ends]


def _successors(block: Block) -> Sequence[Block]:
    return () if block.last_op is None else block.last_op.successors


def _body(end: Block, first: Block, predecessors: Mapping[Block, Sequence[Block]]) -> set[Block]:
    """Returns the blocks of the loop whose back edge leads from `end` to `first`."""
    body, pending = {first}, [end]
    while pending:
        block = pending.pop()
        if block not in body:
            body.add(block)
            pending += predecessors[block]
    return body


def _stores_floats(op: Operation) -> bool:
    if not isinstance(op, llvm.StoreOp) or isinstance(op.value.owner, llvm.LoadOp):
        return False
    return not isinstance(op.value.type, IntegerType | llvm.LLVMPointerType)


def _calls(op: Operation, names: Collection[str]) -> bool:
    return isinstance(op, llvm.CallOp) and op.callee is not None and op.callee.string_value() in names


def _declaration(op: Operation | None) -> llvm.FuncOp | None:
    """Returns a declaration of a function for another piece; `None` if the op is not a function."""
    if not isinstance(op, llvm.FuncOp):
        return None
    return llvm_function(op.sym_name, op.function_type)


def _references(op: Operation) -> set[str]:
    """Returns the symbols that an op and its nested ops reference."""
    found: set[str] = set()
    pending: list[Attribute] = []
    for inner in all_ops(op):
        pending += (*inner.properties.values(), *inner.attributes.values())
    for attribute in pending:
        if type(attribute) is SymbolRefAttr:
            found.add(attribute.root_reference.data)
    return found

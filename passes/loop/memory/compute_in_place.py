"""`loop-compute-in-place`: lets kernels write results into the buffers of inputs that are not used afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, ModuleOp, StringAttr, SymbolRefAttr, i64
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import BlockOp, LoadOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.signature import input_arguments, output_arguments
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import IN_PLACE, LOOP_KERNEL, VERSION
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.memory.buffer_size import expected_bytes
from xrelay.passes.loop.memory.lifetimes import BlockLifetimes, BufferUses, block_of
from xrelay.passes.loop.nest_queries import kernels_of, only_store, stores_once


@dataclass(frozen=True)
class LoopComputeInPlacePass(XRelayPass):
    """Makes the output of an elementwise kernel share the buffer of an input, at the input's last use.

    Before → after:

    ```
    %t = memref.alloc() : T                             %t = memref.alloc() : T
    func.call @k(%x, %t) : (T, T) -> ()            →    func.call @k(%x, %t) : (T, T) -> ()
    %s = memref.alloc() : T                             func.call @add(%t, %x, %t) : (T, T, T) -> ()
    func.call @add(%t, %x, %s) : (T, T, T) -> ()        func.call @l(%t, %y) : (T, T) -> ()
    func.call @l(%s, %y) : (T, T) -> ()                 func.func private @add(…) attributes {loop.kernel,
                                                            loop.in_place = array<i64: 0, 2>}
    ```

    `loop.in_place` lists the arguments that may share a buffer. It is a property of the kernel: if only some of its
    calls compute in place, these call a copy, `@add_in_place`, and the kernel stays unchanged. If the result is an
    output of the function, the input is computed in the buffer of the output instead.

    A buffer is not reused if the kernel reads the input at another index than it writes the output, or in another
    block; if it is an argument, a constant or a view, is used later, transferred to another owner, or passed twice to
    one call; if the extents differ; or if it has less than `least` bytes. An output that is used before is not reused
    either.
    """

    name = "loop-compute-in-place"
    numerics = EXACT

    least: int = field(default=1 << 16, metadata={"help": "the smallest number of bytes of a buffer that is reused"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the calls and kernels of the module in place."""
        functions = [each for each in op.ops if isinstance(each, func.FuncOp) and len(each.body.blocks) == 1]
        callers = [each for each in functions if LOOP_KERNEL not in each.attributes and ops_of(each, memref.AllocOp)]
        # Only buffers that are allocated can be reused: a graph of one kernel has none.
        pairs = _pairs_of_kernels(op) if callers else {}
        chosen: dict[str, dict[tuple[int, int], list[func.CallOp]]] = {}
        for function in callers:
            for call, pair in _Reuse(function, self.least).run(pairs):
                chosen.setdefault(call.callee.string_value(), {}).setdefault(pair, []).append(call)
        _mark(op, chosen)


def _pairs_of_kernels(module: ModuleOp) -> dict[str, Sequence[tuple[int, int]]]:
    """The pairs of arguments of each kernel that may share a buffer in all versions of the kernel."""
    kernels = kernels_of(module)
    versions = versions_by_kernel(kernels)
    found = {kernel.sym_name.data: _pairs_in_place(kernel) for kernel in kernels}
    for name, rows in versions.items():
        for version, _ in rows:
            others = set(found.get(version.sym_name.data, ()))
            found[name] = [pair for pair in found.get(name, ()) if pair in others]
    return {name: pairs for name, pairs in found.items() if pairs}


# --- which calls may


class _Reuse(BlockLifetimes):
    """Finds the calls of a graph function that can compute in place, and merges their buffers."""

    def __init__(self, function: func.FuncOp, least: int):
        super().__init__(function.body.block)
        self._least = least
        self._outputs = set(output_arguments(function))
        self._calls = ops_of(function, func.CallOp)

    def run(self, pairs: Mapping[str, Sequence[tuple[int, int]]]) -> list[tuple[func.CallOp, tuple[int, int]]]:
        """Merges buffers; returns the calls that compute in place, each with its pair of `pairs`."""
        joined: list[tuple[func.CallOp, tuple[int, int]]] = []
        for call in self._calls:
            pair = next((each for each in pairs.get(call.callee.string_value(), ()) if self._join(call, *each)), None)
            if pair is not None:
                joined.append((call, pair))
        self._replace()
        return joined

    def _join(self, call: func.CallOp, source: int, output: int) -> bool:
        """Merges two operands of a call into one buffer if that changes no result; returns whether it did."""
        old, new = call.arguments[source], call.arguments[output]
        if self.roots.get(old) != (old,) or self.roots.get(new) != (new,) or old.type != new.type:
            return False
        uses, wanted = self.lives[old], self.lives[new]
        position = self.positions[call]
        if not isinstance(uses.buffer.owner, memref.AllocOp) or block_of(old) is not call.parent:
            return False
        if (
            uses.ended is not None
            or uses.last != position
            or wanted.first != position
            or block_of(new) is not call.parent
        ):
            return False
        if self._is_shared(call, uses, {source}) or self._is_shared(call, wanted, {output}):
            return False
        if not self._can_take(uses, new) or expected_bytes(old) < self._least:
            return False
        uses.last, uses.ended = wanted.last, wanted.ended
        if not isinstance(new.owner, memref.AllocOp):
            uses.buffer = new
        self.lives[new] = uses
        return True

    def _is_shared(self, call: func.CallOp, use: BufferUses, own: set[int]) -> bool:
        """Whether an operand of a call other than `own` refers to the buffer of `use`."""
        others = (each for number, each in enumerate(call.arguments) if number not in own)
        return any(isinstance(r, SSAValue) and self.lives.get(r) is use for o in others for r in self.roots.get(o, ()))

    def _can_take(self, uses: BufferUses, new: SSAValue) -> bool:
        """Whether the buffer of `uses` fits `new`: equal extents, or an output of static shape."""
        old = uses.buffer.owner
        if isinstance(new.owner, memref.AllocOp) and isinstance(old, memref.AllocOp):
            return list(old.dynamic_sizes) == list(new.owner.dynamic_sizes) and old.alignment == new.owner.alignment
        return new in self._outputs and DYNAMIC_INDEX not in memref_type(new).get_shape()

    def _replace(self) -> None:
        """Replaces merged allocations by the buffer that holds them."""
        for value, use in self.lives.items():
            if value is not use.buffer and isinstance(value.owner, memref.AllocOp):
                value.replace_all_uses_with(use.buffer)
                Rewriter.erase_op(value.owner)


# --- the kernels


def _mark(module: ModuleOp, chosen: Mapping[str, Mapping[tuple[int, int], Sequence[func.CallOp]]]) -> None:
    """Marks kernels that compute in place; a kernel that is also called otherwise gets a copy with the mark."""
    if not chosen:
        return
    kernels = {kernel.sym_name.data: kernel for kernel in kernels_of(module)}
    versions = versions_by_kernel(kernels.values())
    taken = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
    counts: dict[str, int] = {}
    for op in ops_of(module, func.CallOp):
        counts[op.callee.string_value()] = counts.get(op.callee.string_value(), 0) + 1
    for name, rows in chosen.items():
        for pair, calls in rows.items():
            found = [kernels[name], *(version for version, _ in versions.get(name, ()))]
            if len(calls) < counts[name]:
                found = [_copy(kernel, taken) for kernel in found]
                for call in calls:
                    call.callee = SymbolRefAttr(found[0].sym_name)
                for version, (_, told) in zip(found[1:], versions.get(name, ()), strict=True):
                    version.attributes[VERSION] = replace(told, of=found[0].sym_name.data).attribute()
            for kernel in found:
                kernel.attributes[IN_PLACE] = DenseArrayBase.from_list(i64, pair)


def _copy(kernel: func.FuncOp, taken: set[str]) -> func.FuncOp:
    """Inserts a copy of a kernel after it, under a fresh name that is added to `taken`."""
    copy = kernel.clone()
    copy.sym_name = StringAttr(fresh_name(f"{kernel.sym_name.data}_in_place", taken))
    Rewriter.insert_op(copy, InsertPoint.after(kernel))
    return copy


def _pairs_in_place(kernel: func.FuncOp) -> list[tuple[int, int]]:
    """The pairs of numbers of an input and an output that may share a buffer; an output may be in several pairs.

    They may if each element of the input is read only at the point that overwrites it. The accesses prove this: one
    block stores the output, each of its points stores another element, and no other op uses the output; only this block
    reads the input, at the index of the store. Each point of the block runs once, in any order, and no primitive
    changes this.
    """
    return [(source, output) for output, each in enumerate(kernel.body.block.args) for source in _sources(kernel, each)]


def _sources(kernel: func.FuncOp, output: SSAValue) -> Iterator[int]:
    """The numbers of the inputs that may share the buffer of `output`."""
    store = only_store(output) if output in output_arguments(kernel) else None
    block = None if store is None else store.parent_op()
    if store is None or not isinstance(block, BlockOp):
        return
    zero = ValueMap.constant(0)
    known = {variable: zero for variable, extent in zip(block.variables, block.extents, strict=True) if extent == 1}
    index, before = store.index.substitute(known), set(takewhile(lambda op: op is not store, block.body.walk()))
    if not stores_once(block, index):
        return
    for number, argument in enumerate(input_arguments(kernel)):
        if argument.type == output.type and extents_of(argument) == extents_of(output):
            users = [use.operation for use in argument.uses]
            loads = [op for op in users if isinstance(op, LoadOp) and op in before]
            is_all = len(loads) + users.count(block) == len(users)
            if loads and is_all and all(load.index.substitute(known) == index for load in loads):
                yield number

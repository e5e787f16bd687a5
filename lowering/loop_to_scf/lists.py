"""Lists below the loop level: arrays of 64-bit words, created, changed and read by native functions.

    %m = loop.list_insert %x[%n] in %l at %i            memref.store %n, %extents[%c0] : memref<2xi64>, …
        : memref<?x4xf32> in !loop.list<f32>            %a = memref.extract_aligned_pointer_as_index %x
                                                   →    %t = func.call @xrelay_list_item(%a, …, %extents, %c2)
                                                        %m = func.call @xrelay_list_insert(%l, %i, %t)
                                                            : (memref<?xi64>, index, memref<?xi64>) -> memref<?xi64>

`to_llvm/lists.py` documents the words and the functions.

**References** are counted first. Ops that change a list consume a reference to it, and so do ops that pass it on. A
value that is used again after such an op is retained before it; a value whose last use does not consume it is released
after that use. So a list that grows in a loop is changed in place. A branch takes over a list that is not used after
it. Arguments of functions belong to the caller.

    %m = loop.list_insert %x[] in %l at %i        func.call @xrelay_list_retain(%l)
    %n = loop.list_length %l                 →    %m = loop.list_insert %x[] in %l at %i
                                                  %n = loop.list_length %l
                                                  func.call @xrelay_list_release(%l)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from xdsl.builder import Builder
from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.list_ops import (
    LIST_OPS,
    LIST_PART_OPS,
    ListAtOp,
    ListEmptyOp,
    ListEraseOp,
    ListExtentsOp,
    ListInsertOp,
    ListInsertPartOp,
    ListLengthOp,
    ListReadOp,
    ListReadPartOp,
    ListType,
)
from xrelay.dialects.shared.attribute_names import GRAPH_FUNCTION, SOURCES
from xrelay.dialects.shared.locations import location_of, sources_or_location
from xrelay.dialects.shared.op_lists import defined_values, ops_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp
from xrelay.errors import LoweringError
from xrelay.passes.infra.verify import walk_ops

RETAIN: Final = "xrelay_list_retain"
RELEASE: Final = "xrelay_list_release"

_USES_UP = (
    ListInsertOp, ListInsertPartOp, ListEraseOp, scf.YieldOp, scf.ConditionOp, scf.WhileOp, scf.ForOp, func.ReturnOp,
)  # fmt: skip
"""The ops that consume a reference to each list among their operands."""


def _count_references(function: func.FuncOp) -> None:
    """Adds the calls to a function; its arguments belong to the caller."""
    _References(function).run()


class _References:
    def __init__(self, function: func.FuncOp):
        self._function = function
        ops = list(walk_ops(function))
        self._order = {op: number for number, op in enumerate(ops)}
        self._owned: list[tuple[SSAValue, Block]] = [(value, block) for op in ops for value, block in _made_by(op)]

    def run(self) -> None:
        """Adds the calls for every list, first in its own block, then in branches that take it over."""
        for argument in self._function.body.block.args:
            for use in argument.uses if isinstance(argument.type, ListType) else ():
                self._retain(use)
        while self._owned:
            self._add_calls(*self._owned.pop())

    def _add_calls(self, value: SSAValue, block: Block) -> None:
        """Adds the calls for `value` in `block`, which owns one reference to it."""
        ancestors = [(block.find_ancestor_op_in_block(use.operation), use) for use in value.uses]
        inside = [(ancestor, use) for ancestor, use in ancestors if ancestor is not None]
        if not inside:
            self._release(value, block, None)
            return
        last = max((ancestor for ancestor, _ in inside), key=self._order.__getitem__)
        ends = [use for ancestor, use in inside if ancestor is last]
        direct = [use for use in ends if use.operation is last]
        taken = isinstance(last, scf.IfOp) and not direct and all(region.blocks for region in last.regions)
        if taken:
            self._owned += [(value, region.block) for region in last.regions]
        moved = direct[0] if len(direct) == len(ends) and isinstance(last, _USES_UP) else None
        for ancestor, use in inside:
            if use != moved and not (taken and ancestor is last):
                self._retain(use)
        if moved is None and not taken:
            self._release(value, block, last)

    def _retain(self, use: Use) -> None:
        """Retains a list before an op that consumes a reference."""
        if isinstance(use.operation, _USES_UP):
            call = func.CallOp(RETAIN, [use.operation.operands[use.index]], [])
            Rewriter.insert_op(call, InsertPoint.before(use.operation))

    def _release(self, value: SSAValue, block: Block, last: Operation | None) -> None:
        """Releases a list after `last`, or after its definition."""
        if last is None and isinstance(value.owner, Operation) and value.owner.parent is block:
            last = value.owner
        point = InsertPoint.at_start(block) if last is None else InsertPoint.after(last)
        Rewriter.insert_op(func.CallOp(RELEASE, [value], []), point)


def _made_by(op: Operation) -> Iterator[tuple[SSAValue, Block]]:
    """Yields the lists that an op defines, each with the block that owns it."""
    for result in op.results:
        if isinstance(result.type, ListType) and op.parent is not None:
            yield result, op.parent
    for region in op.regions if not isinstance(op, func.FuncOp) else ():
        for block in region.blocks:
            yield from ((argument, block) for argument in block.args if isinstance(argument.type, ListType))


# --- conversion

WORDS: Final = MemRefType(i64, [DYNAMIC_INDEX])
"""The type of a list and of its items."""
LENGTH, EXTENTS = 1, 4
"""The positions of the words that hold the length of a list, and the first extent of a buffer in a list."""
_INDEX: Final = IndexType()
_NEW, _ITEM, _INSERT, _ERASE, _GET, _READ = (
    f"xrelay_list_{name}" for name in ("new", "item", "insert", "erase", "get", "read")
)
LIST_FUNCTIONS: Final[dict[str, tuple[list[Attribute], list[Attribute]]]] = {
    _NEW: ([], [WORDS]),
    _ITEM: ([_INDEX, _INDEX, _INDEX, _INDEX, WORDS, _INDEX], [WORDS]),
    _INSERT: ([WORDS, _INDEX, WORDS], [WORDS]),
    _ERASE: ([WORDS, _INDEX], [WORDS]),
    _GET: ([WORDS, _INDEX], [WORDS]),
    _READ: ([WORDS, _INDEX, _INDEX, _INDEX, _INDEX], []),
    RETAIN: ([WORDS], []),
    RELEASE: ([WORDS], []),
}
"""The functions on lists, with their types."""


def convert_lists(function: func.FuncOp) -> bool:
    """Converts the lists of a function in place and marks the function; returns whether it has lists."""
    converted = ops_of(function, *LIST_OPS, *LIST_PART_OPS)
    if not converted and not any(isinstance(type, ListType) for type in function.function_type.inputs):
        return False
    _count_references(function)
    conversion = _Conversion(function, converted)
    for op in converted:
        conversion.convert(op)
    for op in walk_ops(function):
        for value in defined_values(op):
            if isinstance(value.type, ListType):
                Rewriter.replace_value_with_new_type(value, WORDS)
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    function.function_type = FunctionType.from_lists(*([_word_type(t) for t in types] for types in (inputs, outputs)))
    function.attributes[GRAPH_FUNCTION] = UnitAttr()
    return True


def declare_lists(module: ModuleOp, called: Collection[str]) -> None:
    """Declares the functions on lists if any of them is called."""
    if LIST_FUNCTIONS.keys().isdisjoint(called):
        return
    for name, (inputs, outputs) in LIST_FUNCTIONS.items():
        module.body.block.add_op(func.FuncOp.external(name, inputs, outputs))


def _word_type(type: Attribute) -> Attribute:
    return WORDS if isinstance(type, ListType) else type


class _Conversion:
    """Replaces ops on lists with calls."""

    def __init__(self, function: func.FuncOp, ops: Sequence[Operation]):
        """Allocates a buffer for the extents of inserted items."""
        self._nested = {op for op in ops if isinstance(op, ListInsertOp) and isinstance(op.value.type, ListType)}
        """The ops that insert lists; on conversion their operands already have the type of words."""
        ranks = [_rank(op.value) for op in ops if isinstance(op, ListInsertOp | ListInsertPartOp)]
        self._builder = Builder(InsertPoint.at_start(function.body.block))
        self._extents = self._builder.insert(memref.AllocaOp.get(i64, shape=[max(1, *ranks)])) if ranks else None

    def convert(self, op: Operation) -> None:
        """Replaces one op."""
        self._builder = Builder(InsertPoint.before(op))
        Rewriter.replace_op(op, [], self._results(op))

    def _results(self, op: Operation) -> Sequence[SSAValue]:
        """Writes the replacement of an op and returns its results."""
        match op:
            case ListEmptyOp():
                return [self._create(_NEW, [], op)]
            case ListInsertOp() | ListInsertPartOp():
                item = op.value if op in self._nested else self._item(op)
                return [self._create(_INSERT, [op.list, op.at, item], op)]
            case ListEraseOp():
                return [self._create(_ERASE, [op.list, op.at], op)]
            case ListLengthOp():
                return [self._word(op.list, LENGTH)]
            case ListExtentsOp():
                item = self._call(_GET, [op.list, op.at])[0]
                return [self._word(item, EXTENTS + axis) for axis in range(len(op.extents))]
            case ListAtOp():
                (found,) = self._call(_GET, [op.list, op.at])
                self._call(RETAIN, [found])
                return [found]
            case ListReadOp():
                zero, one = self._index(0), self._index(1)
                self._call(_READ, [op.list, op.at, self._address(op.target), one, zero])
            case ListReadPartOp():
                rows, stride, unit = self._rows(op.target, op.extents, op.axis.value.data)
                start = self._sum(self._address(op.target), self._product([op.first, unit]))
                self._call(_READ, [op.list, op.at, start, rows, stride])
            case _:
                raise LoweringError(f"'{op.name}' is not an op on lists", location=location_of(op))
        return []

    def _item(self, op: ListInsertOp | ListInsertPartOp) -> SSAValue:
        """Writes a copy of an inserted buffer as rows of bytes at a stride."""
        extents = self._all_extents(op.value, op.extents)
        if isinstance(op, ListInsertOp):
            size = self._product([self._index(_bytes(op.value)), *extents])
            source, rows, stride = self._address(op.value), self._index(1), self._index(0)
        else:
            axis = op.axis.value.data
            rows, stride, unit = self._rows(op.value, op.extents, axis)
            source = self._sum(self._address(op.value), self._product([op.first, unit]))
            size = self._product([op.count, unit])
            extents = [*extents[:axis], *([op.count] if op.drop is None else []), *extents[axis + 1 :]]
        assert self._extents is not None, "functions with insertions have a buffer of extents"
        for number, extent in enumerate(extents):
            word = self._add(IndexCastOp(extent, i64))
            self._builder.insert(memref.StoreOp.get(word, self._extents, [self._index(number)]))
        told = self._add(memref.CastOp.get(self._extents, WORDS))
        return self._create(_ITEM, [source, rows, stride, size, told, self._index(len(extents))], op)

    def _rows(
        self, buffer: SSAValue, open_extents: Sequence[SSAValue], axis: int
    ) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Computes the number of rows of a part along an axis, their stride, and the bytes per index of the axis."""
        extents = self._all_extents(buffer, open_extents)
        unit = self._product([self._index(_bytes(buffer)), *extents[axis + 1 :]])
        return self._product(extents[:axis]), self._product([extents[axis], unit]), unit

    def _all_extents(self, buffer: SSAValue, open_extents: Sequence[SSAValue]) -> list[SSAValue]:
        rest = iter(open_extents)
        shape = memref_type(buffer).get_shape()
        return [next(rest) if extent == DYNAMIC_INDEX else self._index(extent) for extent in shape]

    def _create(self, name: str, operands: Sequence[SSAValue], op: Operation) -> SSAValue:
        """Writes a call that creates or changes an object, and an assertion that memory was available."""
        (found,) = self._call(name, operands)
        there = self._add(CmpiOp(self._address(found), self._index(0), "ne"))
        assertion = cf.AssertOp(there, "out of memory: a sequence")
        if (sources := sources_or_location(op)) is not None:
            assertion.attributes[SOURCES] = sources
        self._builder.insert(assertion)
        return found

    def _call(self, name: str, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return self._builder.insert(func.CallOp(name, operands, LIST_FUNCTIONS[name][1])).results

    def _word(self, words: SSAValue, number: int) -> SSAValue:
        # At this point a list still has its loop-level type, which the constructor of `memref.load` rejects.
        load = memref.LoadOp.build(operands=[words, [self._index(number)]], result_types=[i64])
        return self._add(IndexCastOp(self._add(load), _INDEX))

    def _address(self, buffer: SSAValue) -> SSAValue:
        return self._add(memref.ExtractAlignedPointerAsIndexOp.get(buffer))

    def _product(self, factors: Sequence[SSAValue]) -> SSAValue:
        product, *rest = factors or [self._index(1)]
        for factor in rest:
            product = self._add(arith.MuliOp(product, factor))
        return product

    def _sum(self, some: SSAValue, other: SSAValue) -> SSAValue:
        return self._add(arith.AddiOp(some, other))

    def _index(self, number: int) -> SSAValue:
        return self._add(arith.ConstantOp.from_int_and_width(number, _INDEX))

    def _add(self, op: Operation) -> SSAValue:
        return self._builder.insert(op).results[0]


def _rank(value: SSAValue) -> int:
    return value.type.get_num_dims() if isinstance(value.type, MemRefType) else 0


def _bytes(buffer: SSAValue) -> int:
    """Returns the size of one element in bytes."""
    element = memref_type(buffer).element_type
    assert isinstance(element, FixedBitwidthType), "elements have a size"
    return (element.bitwidth + 7) // 8

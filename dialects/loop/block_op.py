"""`loop.block`: a statement of a kernel with the information that determines whether schedules are legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self, TypeAlias

from typing_extensions import override
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect

from xrelay.dialects.loop.base import CheckedOp, IterKind, IterKindAttr, cached_on_op
from xrelay.dialects.shared.extents import numbers_in
from xrelay.dialects.shared.op_making import copies
from xrelay.index_algebra.value_map import ValueMap, join_maps, parse_affine_expr, print_affine_expr

_KINDS: Final = {kind: IterKindAttr(kind) for kind in IterKind}

DYNAMIC = -1
"""The extent of a block variable whose domain is not known in the IR; printed `?`."""

EXTENT_OPERAND = -2
"""The placeholder in the attribute for an extent that is an operand."""

Extent: TypeAlias = int | SSAValue
"""The number of values of a variable: a number, `DYNAMIC`, or an `index` value defined outside of all loops."""


@dataclass(frozen=True)
class IterVar:
    """A block variable: its kind, its extent, and its value in terms of enclosing loop indices."""

    kind: IterKind
    extent: Extent
    binding: ValueMap
    name: str | None = None
    """The name hint of its SSA value."""


@irdl_op_definition
class BlockOp(CheckedOp):
    """One statement of a kernel with the information that schedules need.

    A variable is bound to an affine expression of enclosing loop indices and ranges over `[0, extent)`; the block does
    not run for bindings outside this range, which is how partial tiles are represented. An extent may be an `index`
    value. An extent `?` is not known in the IR, and no binding is outside its range. The values of a reduce variable
    contribute to one element in any order. The values of an ordered variable ascend, and an iteration may use what the
    block stored in earlier iterations: selecting folds, scans, updates at computed positions. `init` runs for each
    point of the spatial variables before the body, at the iteration in which all reduce and ordered variables are zero;
    if one of their extents is a value that is 0, `init` runs without the body. `writes` lists the buffers stored to,
    `reads` the buffers loaded from that are not in `writes`.

    - C1: one kind, one extent and one binding for each variable; as many binding operands as the map has dimensions
    - C2: extents are positive numbers, `?`, or values; each value has an operand
    - C3: the body has one `index` argument for each variable, `init` one for each spatial variable
    - C4: bindings use only indices of enclosing loops and `index` arguments of the kernel
    - C5: `writes` is exactly the set of buffers stored to
    - C6: every buffer loaded from is in `reads` or `writes`
    - C7: `init` requires a reduce or an ordered variable
    - C8: no store's index depends on a reduce variable; it may depend on an ordered variable
    - C9: inside, loop indices are used only in indices of accesses; other ops use the block's variables
    - C10: blocks do not nest and contain no loops
    - C11: a block that stores at a computed position has no reduce variable, and each of its spatial variables is an
      index of every access to that buffer, at the same position and without arithmetic, so that points with different
      values of the variable access different elements
    - C12: an extent that is a value is defined outside of all loops

    ```mlir
    func.func @sum(%X: memref<8x16xf32>, %Y: memref<8xf32>) {
      loop.for "i" %i to 8 {
        loop.for "ko" %ko to 4 {
          loop.for "ki" %ki to 4 {
            loop.block "sum" (%vi : spatial 8 = %i, %vk : reduce 16 = %ko * 4 + %ki) reads(%X) writes(%Y) init {
              %zero = arith.constant 0.0 : f32
              loop.store %zero, %Y[%vi] : memref<8xf32>
            } {
              %x = loop.load %X[%vi, %vk] : memref<8x16xf32>
              %y = loop.load %Y[%vi] : memref<8xf32>
              %s = arith.addf %y, %x : f32
              loop.store %s, %Y[%vi] : memref<8xf32>
            }
          }
        }
      }
      func.return
    }
    func.func @copy(%X: memref<?xf32>, %Y: memref<?xf32>, %n: index) {
      loop.for "i" %i to %n {
        loop.block "copy" (%vi : spatial %n = %i) reads(%X) writes(%Y) {
          %x = loop.load %X[%vi] : memref<?xf32>
          loop.store %x, %Y[%vi] : memref<?xf32>
        }
      }
      func.return
    }
    ```
    """

    name = "loop.block"

    binding_operands = var_operand_def(IndexType)
    reads = var_operand_def(MemRefType)
    writes = var_operand_def(MemRefType)
    extent_operands = var_operand_def(IndexType)
    block_name_attr = prop_def(StringAttr, prop_name="block_name")
    kinds_attr = prop_def(ArrayAttr[IterKindAttr], prop_name="kinds")
    extents_attr = prop_def(DenseArrayBase.constr(i64), prop_name="extents")
    bindings_attr = prop_def(AffineMapAttr, prop_name="bindings")
    init = region_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        block_name: str,
        iter_vars: Sequence[IterVar],
        reads: Sequence[SSAValue],
        writes: Sequence[SSAValue],
        body: Region | None = None,
        init: Region | None = None,
    ):
        """`body` and `init` get block arguments if they are not given; `init=None` means no init."""
        bindings = join_maps([var.binding for var in iter_vars])
        if body is None:
            body = Region(Block(arg_types=[IndexType()] * len(iter_vars)))
        extents, values = _split_extents([var.extent for var in iter_vars])
        # Calls `Operation.__init__`, because the constructor of `IRDLOperation` spends most of its time sorting
        # arguments.
        groups = bindings.operands, reads, writes, values
        Operation.__init__(
            self,
            operands=[operand for group in groups for operand in group],
            properties={
                "block_name": StringAttr(block_name),
                "kinds": ArrayAttr(_KINDS[var.kind] for var in iter_vars),
                "extents": extents,
                "bindings": bindings.attr(),
                "operandSegmentSizes": _segments_of(groups),
            },
            regions=(Region() if init is None else init, body),
        )
        for arg, var in zip(self.body.block.args, iter_vars, strict=False):
            if var.name is not None:
                arg.name_hint = var.name

    @property
    def block_name(self) -> str:
        """The name by which schedules refer to the block."""
        return self.block_name_attr.data

    @property
    def kinds(self) -> tuple[IterKind, ...]:
        """The kind of each variable."""
        return cached_on_op(self, (self.kinds_attr,), _kinds)

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The domain extent of each variable; `DYNAMIC` if unknown."""
        return cached_on_op(self, (self.extents_attr, self._operands, self._segments), _extents)

    @property
    def bindings(self) -> ValueMap:
        """The value of each variable in terms of enclosing loop indices."""
        return cached_on_op(self, (self.bindings_attr, self._operands, self._segments), _bindings)

    @property
    def _segments(self) -> Attribute:
        """The numbers of operands that are bindings, reads, writes and extents."""
        return self.properties["operandSegmentSizes"]

    @bindings.setter
    def bindings(self, value: ValueMap) -> None:
        self.bindings_attr = value.attr()
        self._set_operands(value.operands, tuple(self.reads), tuple(self.writes))

    def set_buffers(self, reads: Sequence[SSAValue], writes: Sequence[SSAValue]) -> None:
        """Replaces the lists of buffers read and written."""
        self._set_operands(tuple(self.binding_operands), reads, writes)

    def set_extents(self, extents: Sequence[Extent]) -> None:
        """Replaces the extents of the variables."""
        self.extents_attr, values = _split_extents(extents)
        self._set_operands(tuple(self.binding_operands), tuple(self.reads), tuple(self.writes), values)

    def _set_operands(self, *groups: Sequence[SSAValue]) -> None:
        """Replaces bindings, reads, writes and, if given, the extents that are values."""
        groups = groups if len(groups) > 3 else (*groups, tuple(self.extent_operands))
        self.operands = tuple(operand for group in groups for operand in group)
        self.properties["operandSegmentSizes"] = _segments_of(groups)

    @property
    def variables(self) -> tuple[SSAValue, ...]:
        """The variables, which are the arguments of the body."""
        return tuple(self.body.block.args)

    @property
    def spatial(self) -> tuple[int, ...]:
        """The positions of the spatial variables."""
        return cached_on_op(self, (self.kinds_attr,), _spatial)

    @property
    def is_consistent(self) -> bool:
        """Whether kinds, extents and bindings have the same length, and the bindings match their operands."""
        parts = (self.kinds_attr, self.extents_attr, self.bindings_attr, self._operands, self._segments)
        return cached_on_op(self, parts, _is_consistent)

    @property
    def has_init(self) -> bool:
        """Whether the block has an init region."""
        return bool(self.init.blocks)

    @property
    def is_reduction(self) -> bool:
        """Whether any variable is a reduce or an ordered variable, so that iterations share elements."""
        kinds = self.kinds
        return kinds.count(IterKind.SPATIAL) < len(kinds)

    def iter_vars(self) -> tuple[IterVar, ...]:
        """The variables as data, in the form of the constructor's argument."""
        bindings, extents = self.bindings, self.extents
        return tuple(
            IterVar(kind, extents[k], bindings[k], self.variables[k].name_hint) for k, kind in enumerate(self.kinds)
        )

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        block_name = parser.parse_str_literal()
        arguments: list[Parser.Argument] = []
        iter_vars: list[IterVar] = []

        def variable() -> None:
            arguments.append(parser.parse_argument(expect_type=False).resolve(IndexType()))
            parser.parse_punctuation(":")
            kind = parser.parse_str_enum(IterKind)
            extent = _parse_extent(parser)
            parser.parse_punctuation("=")
            iter_vars.append(IterVar(kind, extent, parse_affine_expr(parser)))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, variable)
        reads = _parse_buffers(parser, "reads")
        writes = _parse_buffers(parser, "writes")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        init = None
        if parser.parse_optional_keyword("init") is not None:
            spatial = [a for a, v in zip(arguments, iter_vars, strict=True) if v.kind is IterKind.SPATIAL]
            init = parser.parse_region(spatial)
        body = parser.parse_region(arguments)
        op = cls(block_name, iter_vars, reads, writes, body, init)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.block_name)
        printer.print_string(" (")
        bindings, kinds, extents = self.bindings_attr.data.results, self.kinds, self.extents
        operands = tuple(self.binding_operands)

        def print_variable(position: int) -> None:
            printer.print_ssa_value(self.variables[position])
            printer.print_string(f" : {kinds[position]} ")
            _print_extent(printer, extents[position])
            printer.print_string(" = ")
            print_affine_expr(printer, bindings[position], operands)

        printer.print_list(range(len(kinds)), print_variable)
        printer.print_string(")")
        for word, buffers in (("reads", self.reads), ("writes", self.writes)):
            if buffers:
                printer.print_string(f" {word}(")
                printer.print_list(buffers, printer.print_ssa_value)
                printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if self.has_init:
            printer.print_string(" init ")
            self._print_init(printer)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def _print_init(self, printer: Printer) -> None:
        """Prints the init region with the names of the body's arguments, which the header defines."""
        block, variables = self.init.block, self.variables
        values = dict[SSAValue, SSAValue](zip(block.args, [variables[k] for k in self.spatial], strict=True))
        shown = Region(Block(copies(tuple(block.ops), values)))
        printer.print_region(shown, print_entry_block_args=False, print_empty_block=False)
        shown.drop_all_references()


def _segments_of(groups: Sequence[Sequence[SSAValue]]) -> DenseArrayBase[IntegerType]:
    return _sizes(tuple(len(group) for group in groups))


@lru_cache(maxsize=256)
def _sizes(counts: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """The attribute for numbers of operands, cached since few combinations occur."""
    return DenseArrayBase.from_list(i32, counts)


def _kinds(block: BlockOp) -> tuple[IterKind, ...]:
    return tuple(attr.data for attr in block.kinds_attr)


def _spatial(block: BlockOp) -> tuple[int, ...]:
    return tuple(k for k, kind in enumerate(block.kinds) if kind is IterKind.SPATIAL)


def _is_consistent(block: BlockOp) -> bool:
    bindings = block.bindings_attr.data
    counts = {len(block.kinds), len(block.extents), len(bindings.results)}
    return len(counts) == 1 and bindings.num_dims == len(block.binding_operands)


def _extents(block: BlockOp) -> tuple[Extent, ...]:
    numbers = numbers_in(block.extents_attr)
    if not block.extent_operands:
        return numbers
    values = iter(block.extent_operands)
    return tuple(next(values, DYNAMIC) if number == EXTENT_OPERAND else number for number in numbers)


def _bindings(block: BlockOp) -> ValueMap:
    return ValueMap.from_attr(block.bindings_attr, tuple(block.binding_operands))


def _split_extents(extents: Sequence[Extent]) -> tuple[DenseArrayBase[IntegerType], list[SSAValue]]:
    """The attribute for the extents, and the operands for extents that are values."""
    numbers = [EXTENT_OPERAND if isinstance(extent, SSAValue) else extent for extent in extents]
    return DenseArrayBase.from_list(i64, numbers), [extent for extent in extents if isinstance(extent, SSAValue)]


def _parse_extent(parser: Parser) -> Extent:
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC
    operand = parser.parse_optional_operand(IndexType())
    return parser.parse_integer(allow_boolean=False) if operand is None else operand


def _print_extent(printer: Printer, extent: Extent) -> None:
    if isinstance(extent, SSAValue):
        printer.print_ssa_value(extent)
    else:
        printer.print_string("?" if extent == DYNAMIC else str(extent))


def _parse_buffers(parser: Parser, word: str) -> list[SSAValue]:
    if parser.parse_optional_keyword(word) is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_buffer(parser))


def _parse_buffer(parser: Parser) -> SSAValue:
    """Parses the name of a buffer; its type is known from its definition."""
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error(f"buffer %{operand.operand_name} is used before its definition", operand.span)
    return values[operand.index]

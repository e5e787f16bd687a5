"""`loop.block`: a statement of a kernel with what a schedule must know to be legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, IndexType, MemRefType, StringAttr, i32, i64
from xdsl.ir import Block, Region, SSAValue
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

from xrelay.dialects.loop.attrs import IterKind, IterKindAttr
from xrelay.dialects.loop.checked_op import CheckedOp
from xrelay.index_algebra.affine_syntax import parse_affine_expr, print_affine_expr
from xrelay.index_algebra.value_map import ValueMap, join_maps

DYNAMIC = -1
"""The extent of a block variable whose domain is not known before run time; printed `?`."""


@dataclass(frozen=True)
class IterVar:
    """A block variable: what it is for, how many values it has, and how the enclosing loops give its value."""

    kind: IterKind
    extent: int
    binding: ValueMap
    name: str | None = None
    """The name that its SSA value gets in text; no meaning."""


@irdl_op_definition
class BlockOp(CheckedOp):
    """One statement of a kernel with everything a schedule must know about it.

    A variable is bound to an affine expression of enclosing loop indices and ranges over `[0, extent)`; where the
    binding lies outside, the block does not run (this is how tails of tiles are represented). An extent `?` is known
    only at run time and never exceeded. The values of a reduce variable contribute to one element in any order. Those
    of an ordered variable come in ascending order, and each may use what the block stored at the ones before: folds
    that select, scans, updates at computed places. `init` runs for each point of the spatial variables at the iteration
    in which all reduce and ordered variables are zero, before the body. `writes` names the buffers stored to; `reads`
    those loaded from that are not in `writes`.

    - C1: one kind, one extent and one binding for each variable; as many binding operands as the map has dimensions
    - C2: extents are positive or `?`
    - C3: the body has one `index` argument for each variable, `init` one for each spatial variable
    - C4: bindings use indices of enclosing loops only
    - C5: `writes` is exactly the set of buffers stored to
    - C6: every buffer loaded from is in `reads` or `writes`
    - C7: `init` stands only where there is a reduce or an ordered variable
    - C8: no store's index depends on a reduce variable; it may depend on an ordered one
    - C9: inside, loop indices appear only in indices of accesses; computing uses the block's variables
    - C10: blocks do not nest, and hold no loops
    - C11: a block that stores at a computed place has no reduce variable, and each of its spatial variables is by
      itself the same index of every access to that buffer: points that differ in it touch different elements

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
    ```
    """

    name = "loop.block"

    binding_operands = var_operand_def(IndexType)
    reads = var_operand_def(MemRefType)
    writes = var_operand_def(MemRefType)
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
        """`body` and `init` get the arguments they need when they are not given; `init=None` is no init."""
        bindings = join_maps([var.binding for var in iter_vars])
        if body is None:
            body = Region(Block(arg_types=[IndexType()] * len(iter_vars)))
        super().__init__(
            operands=[bindings.operands, reads, writes],
            properties={
                "block_name": StringAttr(block_name),
                "kinds": ArrayAttr(IterKindAttr(var.kind) for var in iter_vars),
                "extents": DenseArrayBase.from_list(i64, [var.extent for var in iter_vars]),
                "bindings": bindings.attr(),
            },
            regions=[Region() if init is None else init, body],
        )
        for arg, var in zip(self.body.block.args, iter_vars, strict=False):
            if var.name is not None:
                arg.name_hint = var.name

    @property
    def block_name(self) -> str:
        """The name by which schedules know the block."""
        return self.block_name_attr.data

    @property
    def kinds(self) -> tuple[IterKind, ...]:
        """The kind of each variable."""
        return tuple(attr.data for attr in self.kinds_attr)

    @property
    def extents(self) -> tuple[int, ...]:
        """The domain extent of each variable; `DYNAMIC` where it is not known."""
        return self.extents_attr.get_values()

    @property
    def bindings(self) -> ValueMap:
        """The value of each variable in terms of enclosing loop indices."""
        return ValueMap.from_attr(self.bindings_attr, tuple(self.binding_operands))

    @bindings.setter
    def bindings(self, value: ValueMap) -> None:
        self.bindings_attr = value.attr()
        reads, writes = tuple(self.reads), tuple(self.writes)
        self.operands = (*value.operands, *reads, *writes)
        self._set_segments(len(value.operands), len(reads), len(writes))

    def set_buffers(self, reads: Sequence[SSAValue], writes: Sequence[SSAValue]) -> None:
        """Replace the lists of buffers read and written."""
        bindings = tuple(self.binding_operands)
        self.operands = (*bindings, *reads, *writes)
        self._set_segments(len(bindings), len(reads), len(writes))

    def _set_segments(self, *sizes: int) -> None:
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)

    @property
    def variables(self) -> tuple[SSAValue, ...]:
        """The variables, the arguments of the body."""
        return tuple(self.body.block.args)

    @property
    def spatial(self) -> tuple[int, ...]:
        """The positions of the spatial variables."""
        return tuple(k for k, kind in enumerate(self.kinds) if kind is IterKind.SPATIAL)

    @property
    def has_init(self) -> bool:
        """Whether there is an init region."""
        return bool(self.init.blocks)

    @property
    def is_reduction(self) -> bool:
        """Whether any variable is a reduce or an ordered variable: iterations share elements."""
        return any(kind is not IterKind.SPATIAL for kind in self.kinds)

    def iter_vars(self) -> tuple[IterVar, ...]:
        """The variables as data, as the constructor takes them."""
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
            dynamic = parser.parse_optional_punctuation("?") is not None
            extent = DYNAMIC if dynamic else parser.parse_integer(allow_boolean=False)
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
            extent = extents[position]
            printer.print_string(f" : {kinds[position]} {'?' if extent == DYNAMIC else extent} = ")
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
        """Print the init region with the names of the body's arguments, which the header has introduced."""
        shown = self.init.clone()
        block = shown.block
        spatial = [self.variables[k] for k in self.spatial]
        for argument, variable in zip(tuple(block.args), spatial, strict=True):
            argument.replace_all_uses_with(variable)
        printer.print_region(shown, print_entry_block_args=False, print_empty_block=False)
        shown.drop_all_references()


def _parse_buffers(parser: Parser, word: str) -> list[SSAValue]:
    if parser.parse_optional_keyword(word) is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_buffer(parser))


def _parse_buffer(parser: Parser) -> SSAValue:
    """A buffer is named without its type, which its definition above has given."""
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        parser.raise_error(f"buffer %{operand.operand_name} is used before its definition", operand.span)
    return values[operand.index]

"""`loop.for`: a loop with a name, a kind and a tail strategy."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Self

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, opt_operand_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect

from xrelay.dialects.loop.base import CheckedOp, LoopKind, LoopKindAttr, Tail, TailAttr

MAX_LANES = 1024
"""The largest number of lanes: LLVM splits vectors piece by piece, and refuses 65,536 lanes."""

MAX_COPIES = 1024
"""The largest number of copies of an unrolled body: LLVM's time grows faster than the code."""

# Scheduling creates hundreds of loops of few kinds, and creating an attribute is slow.
_INDEX: Final = IndexType()
_KINDS: Final = {kind: LoopKindAttr(kind) for kind in LoopKind}
_TAILS: Final = {tail: TailAttr(tail) for tail in Tail}


@lru_cache(maxsize=1024)
def _number(extent: int) -> IntegerAttr[IndexType]:
    return IntegerAttr(extent, _INDEX)


@lru_cache(maxsize=1024)
def _name(loop_name: str) -> StringAttr:
    return StringAttr(loop_name)


@irdl_op_definition
class ForOp(CheckedOp):
    """A loop over `0, 1, …, extent - 1`.

    Schedule primitives refer to the loop by its name. The extent is a number, or an `index` value if it is known only
    at run time. The kind selects how iterations run, the tail selects the strategy for a partial last tile under this
    loop, and `unroll = disable` keeps later stages from unrolling it. The defaults `serial` and `peel` are not printed.
    A `contracted` loop sums the four products of bytes of its lane; the loops inside a `tensorized` loop multiply tiles
    of two matrices. On targets without such an instruction they are serial. An `early_exit` loop may end after an
    iteration that changes no element; its iterations do not depend on its index.

    - C1: the extent is either a number or a value, not both
    - C2: a constant extent is not negative
    - C3: the body has one block with one `index` argument
    - C4: names of loops, and names of blocks, are unique within their function
    - C5: values are defined before they are used
    - C6: a vectorized loop has at most 1024 iterations, and nested unrolled loops have at most 1024 in total
    - C7: `loop.extents` of a function's argument has one of its `index` arguments for each `?` of its type

    ```mlir
    func.func @f(%n: index) {
      loop.for "i" %i to 56 parallel {
        loop.for "j" %j to %n unroll = disable {
        }
      }
      func.return
    }
    ```
    """

    name = "loop.for"

    dynamic_extent = opt_operand_def(IndexType)
    loop_name_attr = prop_def(StringAttr, prop_name="loop_name")
    extent_attr = opt_prop_def(IntegerAttr[IndexType], prop_name="extent")
    kind_attr = prop_def(LoopKindAttr, default_value=LoopKindAttr(LoopKind.SERIAL), prop_name="kind")
    tail_attr = prop_def(TailAttr, default_value=TailAttr(Tail.PEEL), prop_name="tail")
    no_unroll_attr = opt_prop_def(UnitAttr, prop_name="no_unroll")
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        loop_name: str,
        extent: int | SSAValue,
        body: Region | None = None,
        *,
        kind: LoopKind = LoopKind.SERIAL,
        tail: Tail = Tail.PEEL,
        no_unroll: bool = False,
    ):
        if body is None:
            block = Block(arg_types=(_INDEX,))
            block.args[0].name_hint = loop_name if SSAValue.is_valid_name(loop_name) else None
            body = Region(block)
        properties: dict[str, Attribute] = {"loop_name": _name(loop_name)}
        if isinstance(extent, int):
            properties["extent"] = _number(extent)
        properties |= {"kind": _KINDS[kind], "tail": _TAILS[tail]}
        if no_unroll:
            properties["no_unroll"] = UnitAttr()
        # Built with `Operation.__init__`: the constructor spends most of its time sorting these into the op's
        # definition.
        operands = () if isinstance(extent, int) else (extent,)
        Operation.__init__(self, operands=operands, properties=properties, regions=(body,))

    @property
    def loop_name(self) -> str:
        """The name by which schedules refer to the loop."""
        return self.loop_name_attr.data

    @property
    def index(self) -> SSAValue:
        """The loop's index, the argument of its body."""
        # By position: the lookup of `body` by name takes longer than the rest.
        return self.regions[0].block.args[0]

    @property
    def extent(self) -> int | None:
        """The number of iterations; `None` if it is known only at run time."""
        number = self.extent_attr
        return None if number is None else number.value.data

    @property
    def bound(self) -> int | SSAValue:
        """The number of iterations, a number or a value."""
        if (number := self.extent_attr) is not None:
            return number.value.data
        assert self.dynamic_extent is not None, "C1"
        return self.dynamic_extent

    @property
    def kind(self) -> LoopKind:
        """The way in which the iterations run."""
        return self.kind_attr.data

    @kind.setter
    def kind(self, kind: LoopKind) -> None:
        self.kind_attr = _KINDS[kind]

    @property
    def tail(self) -> Tail:
        """The strategy for a partial last tile."""
        return self.tail_attr.data

    @tail.setter
    def tail(self, tail: Tail) -> None:
        self.tail_attr = _TAILS[tail]

    @property
    def no_unroll(self) -> bool:
        """Whether later stages must not unroll the loop."""
        return self.no_unroll_attr is not None

    @no_unroll.setter
    def no_unroll(self, value: bool) -> None:
        self.no_unroll_attr = UnitAttr() if value else None

    @property
    def copies(self) -> int:
        """The number of copies of the body: the product of the extents of this and enclosing unrolled loops."""
        count = 1
        op: Operation | None = self
        while op is not None:
            if isinstance(op, ForOp) and op.kind is LoopKind.UNROLLED and op.extent is not None:
                count *= op.extent
            op = op.parent_op()
        return count

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        loop_name = parser.parse_str_literal()
        index = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_keyword("to")
        operand = parser.parse_optional_operand(IndexType())
        extent = parser.parse_integer(allow_boolean=False) if operand is None else operand
        word = parser.parse_optional_keyword_in([kind.value for kind in LoopKind])
        kind = LoopKind.SERIAL if word is None else LoopKind(word)
        tail, no_unroll = Tail.PEEL, False
        if parser.parse_optional_keyword("tail") is not None:
            parser.parse_punctuation("=")
            tail = parser.parse_str_enum(Tail)
        if parser.parse_optional_keyword("unroll") is not None:
            parser.parse_punctuation("=")
            parser.parse_keyword("disable")
            no_unroll = True
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region((index,))
        op = cls(loop_name, extent, body, kind=kind, tail=tail, no_unroll=no_unroll)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.loop_name)
        printer.print_string(" ")
        printer.print_block_argument(self.body.block.args[0], print_type=False)
        printer.print_string(" to ")
        if self.dynamic_extent is not None:
            printer.print_ssa_value(self.dynamic_extent)
        else:
            printer.print_string(str(self.extent))
        if self.kind is not LoopKind.SERIAL:
            printer.print_string(f" {self.kind}")
        if self.tail is not Tail.PEEL:
            printer.print_string(f" tail = {self.tail}")
        if self.no_unroll:
            printer.print_string(" unroll = disable")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

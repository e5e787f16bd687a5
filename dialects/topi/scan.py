"""`topi.scan`: a fold along one axis whose intermediate values are the elements of the result."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.extents import extents_attr
from xrelay.dialects.topi.index_space import (
    IndexSpaceOp,
    parse_accumulators,
    parse_variables,
    print_accumulators,
    print_end,
    print_variables,
)
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.dims import Dim


@irdl_op_definition
class ScanOp(IndexSpaceOp):
    """Folds along one axis of an index space and keeps the accumulators at each point.

    For each point of the other axes the body runs for every point of the axis named after `along`, in ascending order,
    or in descending order with `reverse`. It takes the accumulators as block arguments (`init` are their first values)
    and yields their next values. An element of the results is the value that the body yields at its point or, with
    `exclusive`, the accumulator before it. The body may be any function: a scan is never regrouped, so sums of floats
    are rounded in order. Several accumulators produce several results.

    - C1: no extent is negative; the block arguments are one index per extent, then one accumulator per `init`.
    - C2: at least one result; each is a tensor whose shape is the extents.
    - C3: one `init` per result, of its element type.
    - C4: the body ends in `topi.yield` of one value per result, of its element type.
    - C5: the axis is an axis of the index space.

    ```mlir
    func.func @cumulative_sums(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %r = topi.scan "cumsum" [%i : 4, %k : 8] along %k reverse exclusive init [%acc = 0.0 : f32] : tensor<4x8xf32> {
        %a = topi.read %x[%i, %k] : tensor<4x8xf32>
        %s = arith.addf %acc, %a : f32
        topi.yield %s : f32
      }
      func.return %r : tensor<4x8xf32>
    }
    ```
    """

    name = "topi.scan"

    axis = prop_def(IntegerAttr[IntegerType])
    reverse = opt_prop_def(UnitAttr)
    exclusive = opt_prop_def(UnitAttr)

    def __init__(
        self,
        label: str,
        extents: Sequence[Dim],
        axis: int,
        init: Sequence[FloatAttr | IntegerAttr],
        result_types: Sequence[Attribute],
        body: Region,
        *,
        reverse: bool = False,
        exclusive: bool = False,
    ):
        super().__init__(
            properties={
                "label": StringAttr(label),
                "extents": extents_attr(extents),
                "axis": IntegerAttr(axis, i64),
                "init": ArrayAttr(init),
                "reverse": UnitAttr() if reverse else None,
                "exclusive": UnitAttr() if exclusive else None,
            },
            result_types=[result_types],
            regions=[body],
        )

    @property
    def along(self) -> int:
        """The position of the scanned axis."""
        return self.axis.value.data

    @property
    def scan_var(self) -> BlockArgument:
        """The block argument that iterates along the axis."""
        return self.body.block.args[self.along]

    @property
    def others(self) -> tuple[int, ...]:
        """The positions of the axes whose points are scanned independently."""
        return tuple(axis for axis in range(len(self.spatial)) if axis != self.along)

    def verify_(self) -> None:
        """Checks C1 to C5."""
        self.verify_variables()
        if not 0 <= self.along < len(self.spatial):
            raise VerifyException(f"[topi.scan C5] axis {self.along} of an index space of rank {len(self.spatial)}")
        self.verify_results()
        self.verify_init([signless(element) for element in self.element_types])
        self.verify_yield()

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        """Parses the text form shown in the class."""
        label = parser.parse_str_literal(" naming the computation")
        variables = parse_variables(parser)
        parser.parse_keyword("along")
        position = parser.pos
        along = parser.parse_argument(expect_type=False).name.text
        names = [argument.name.text for argument, _ in variables]
        if along not in names:
            parser.raise_error(f"{along} is not one of the variables {', '.join(names)}", position)
        reverse = parser.parse_optional_keyword("reverse") is not None
        exclusive = parser.parse_optional_keyword("exclusive") is not None
        parser.parse_keyword("init")
        init = parse_accumulators(parser)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([argument for argument, _ in (*variables, *init)])
        extents, first = [extent for _, extent in variables], [value for _, value in init]
        op = cls(label, extents, names.index(along), first, types, body, reverse=reverse, exclusive=exclusive)
        if attributes:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Prints the text form shown in the class; names inside the body have a scope of their own."""
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.enter_scope()
        print_variables(printer, " [", self.spatial_vars, self.spatial)
        printer.print_string(" along ")
        printer.print_ssa_value(self.scan_var)
        for word, flag in (("reverse", self.reverse), ("exclusive", self.exclusive)):
            if flag is not None:
                printer.print_string(f" {word}")
        print_accumulators(printer, self)
        print_end(printer, self)
        printer.exit_scope()

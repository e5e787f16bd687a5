"""`topi.compute`: the elements of a result, computed by a scalar body over an index space."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.dialects.shared.extents import ExtentsAttr, extents_attr, extents_of
from xrelay.dialects.topi.index_space import (
    IndexSpaceOp,
    parse_accumulators,
    parse_variables,
    print_accumulators,
    print_end,
    print_variables,
)
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.dims import Dim, Shape


@irdl_op_definition
class ComputeOp(IndexSpaceOp):
    """Computes every element of its results from one scalar body over an index space.

    The *spatial* variables are the indices of the elements: each point of their box is an element of the results.
    Without reduction variables the body yields the elements. With them, the body is a fold: it runs for every point of
    the reduction box in row-major order, takes the accumulators as block arguments (`init` are their first values) and
    yields their next values; the last values are the elements. Several accumulators produce several results (argmax has
    a value and an index, Welford's variance three); computations on the results (the mean's division) are separate
    computes. `topi.read` reads tensors from outside the body at any index.

    Extents are integers, or expressions over the named dimensions of the function's tensors (`[%i : 2 * n]`).

    The label names the computation in loops, schedules and reports; names of index variables become names of loops.

    - C1: no extent is negative; the block arguments are one index per extent, then one accumulator per `init`.
    - C2: at least one result; each is a tensor whose shape is the spatial extents.
    - C3: with reduction variables one `init` per result, of its element type; without them no `init`.
    - C4: the body ends in `topi.yield` of one value per result, of its element type.

    ```mlir
    func.func @row_sums(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %r = topi.compute "sum" [%i : 4] reduce [%k : 8] init [%acc = 0.0 : f32] : tensor<4xf32> {
        %a = topi.read %x[%i, %k] : tensor<4x8xf32>
        %s = arith.addf %acc, %a : f32
        topi.yield %s : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.compute"

    reduce_extents = prop_def(DenseArrayBase[IntegerType] | ExtentsAttr)

    def __init__(
        self,
        label: str,
        extents: Sequence[Dim],
        reduce_extents: Sequence[Dim],
        init: Sequence[FloatAttr | IntegerAttr],
        result_types: Sequence[Attribute],
        body: Region,
    ):
        # Built with `Operation.__init__`: the constructor spends most of its time sorting arguments.
        Operation.__init__(
            self,
            properties={
                "label": StringAttr(label),
                "extents": extents_attr(extents),
                "reduce_extents": extents_attr(reduce_extents),
                "init": ArrayAttr(init),
            },
            result_types=result_types,
            regions=(body,),
        )

    @property
    def reduction(self) -> Shape:
        """The extents of the reduction variables; empty without a reduction."""
        return extents_of(self.reduce_extents)

    def verify_(self) -> None:
        """Checks C1 to C4."""
        self.verify_variables()
        self.verify_results()
        self.verify_init([signless(element) for element in self.element_types] if self.reduction else [])
        self.verify_yield()

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        """Parses the text form shown in the class."""
        label = parser.parse_str_literal(" naming the computation")
        spatial = parse_variables(parser)
        reduction = parse_variables(parser) if parser.parse_optional_keyword("reduce") else []
        init = parse_accumulators(parser) if parser.parse_optional_keyword("init") else []
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        arguments = [argument for argument, _ in (*spatial, *reduction, *init)]
        body = parser.parse_region(arguments)
        op = cls(label, [e for _, e in spatial], [e for _, e in reduction], [a for _, a in init], types, body)
        if attributes:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Prints the text form shown in the class; names inside the body have a scope of their own."""
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.enter_scope()
        print_variables(printer, " [", self.spatial_vars, self.spatial)
        if self.reduction or self.init.data:
            print_variables(printer, " reduce [", self.reduce_vars, self.reduction)
            print_accumulators(printer, self)
        print_end(printer, self)
        printer.exit_scope()

"""`convert-loop-to-scf`: lowers scheduled loop nests to upstream MLIR's scf, memref, vector, arith and math.

The output has the form that LLVM compiles best: rolled loops, vectors of explicit width, and register tiles as small
stack arrays whose loops are marked to be unrolled, so that the arrays become registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xrelay.dialects.shared.attribute_names import EXTENTS, HEAP, NEEDS, SCHEDULE
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.signless import make_buffers_signless
from xrelay.errors import LoweringError, PassError
from xrelay.lowering.interface import write_interface
from xrelay.lowering.loop_to_scf.checked_index import declare_record_index
from xrelay.lowering.loop_to_scf.graph_function import (
    declare_poll,
    finish_graph_function,
    is_graph_function,
    poll_between_kernels,
    poll_recursions,
)
from xrelay.lowering.loop_to_scf.kernel import KernelWriter
from xrelay.lowering.loop_to_scf.lists import convert_lists, declare_lists
from xrelay.lowering.loop_to_scf.subviews import convert_subviews
from xrelay.lowering.loop_to_scf.weights import take_weights_from_main, weights_of_main, weights_to_arguments
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs
from xrelay.target.instructions import TileProduct, find_tile_product


@dataclass(frozen=True)
class ConvertLoopToScfPass(XRelayPass):
    """Lowers loops, accesses and weights of the loop level; `loop-lower-blocks` must have run before.

    Before → after:
    ```
    loop.for "v" %v to 4 unrolled {               scf.for %v = %c0 to %c4 step %c1 {
      loop.for "j" %j to 16 vectorized {            %0 = arith.muli %v, %c16 : index
        %b = loop.load %B[%k, %v * 16 + %j] : T     %b = vector.load %B[%k, %0] : T, vector<16xf32>
        %a = loop.load %A[%k] : U               →   %1 = memref.load %A[%k] : U
        …                                           %a = vector.broadcast %1 : f32 to vector<16xf32>
      }                                             …
    }                                             } {llvm.loop_annotation = …<unroll = <full = true>>}
    ```
    A buffer with dynamic strides is accessed as a one-dimensional buffer (`buffers.py`); a `loop.subview` between
    kernels becomes a view (`subviews.py`).

    A serial loop around an unrolled one, or with `unroll = disable`, is marked to stay rolled. A perfect nest of
    parallel loops becomes one `scf.parallel`; other parallel loops inside it become serial, with the reason in
    `loop.note`. With `tiles`, a tensorized loop becomes ops on tiles (`tile_products.py`), or a remark has the
    reason why it does not. Local buffers go on the stack. The names and types of `@main`'s arguments are written to
    module attributes (`xrelay.inputs` and so on, see `lowering/interface.py`), since buffers of lower levels do not
    keep them. Raises `LoweringError` for blocks, for operations that cannot be vectorised, and if all lanes would store
    to one element.
    """

    name = "convert-loop-to-scf"
    numerics = REORDERS_SUMS

    tiles: tuple[str, ...] = field(
        default=(), metadata={"help": "the target's instructions on tiles, of tdpbusd and tdpbf16ps"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the module in place."""
        products, remarks = [self._product(name) for name in self.tiles], Remarks(self.name)
        take_weights_from_main(op)
        write_interface(op, weights_of_main(op))
        for function in op.ops:
            if isinstance(function, func.FuncOp):
                for attribute in (HEAP, NEEDS):
                    function.attributes.pop(attribute, None)
                if function.body.blocks:
                    convert_function(function, products, remarks)
                else:
                    make_buffers_signless(function)
        poll_between_kernels(op)
        poll_recursions(op)
        called = {call.callee.string_value() for call in ops_of(op, func.CallOp)}
        for declare in (declare_record_index, declare_poll, declare_lists):
            declare(op, called)
        report(remarks.all)

    def _product(self, name: str) -> TileProduct:
        """Returns the instruction on tiles called `name`."""
        if (product := find_tile_product(name)) is None:
            hint = "use tdpbusd or tdpbf16ps"
            raise PassError(f"{self.name}: no instruction on tiles is called {name!r}", help=hint)
        return product


def convert_function(function: func.FuncOp, tile_products: Sequence[TileProduct], remarks: Remarks) -> None:
    """Converts one function in place; `tile_products` are the target's instructions on tiles."""
    if len(function.body.blocks) != 1:
        raise LoweringError(
            f"convert-loop-to-scf: @{function.sym_name.data} has {len(function.body.blocks)} blocks, it can have one",
            location=location_of(function),
        )
    weights_to_arguments(function)
    convert_subviews(function)
    has_lists = convert_lists(function)
    make_buffers_signless(function)
    function.attributes.pop(SCHEDULE, None)
    if has_lists or is_graph_function(function):
        finish_graph_function(function)
    else:
        KernelWriter(tile_products, remarks).write(function)
    set_argument_attrs(function, [_without_extents(attributes) for attributes in argument_attrs(function)])


def _without_extents(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """Returns an argument's attributes below the loop level: without extents, which the accesses contain."""
    return {name: value for name, value in attributes.items() if name != EXTENTS}

"""`relay-partition-graph`: outlines each annotated region into a function.

What: the ops between the `relay.annotation.compiler_begin`s and `compiler_end`s of a region become a private function
with Relay's attributes `Compiler`, `Primitive`, `Inline` and `global_symbol`, and are replaced by a call. The
parameters are the values that enter the region, without duplicates; constants and tuples of constants become part of
the function unless `bind-constants` is false. The results are the values that leave the region, without duplicates; a
tuple that is made in the region, or is not the only result, is returned as its fields. Why: an external code generator
gets functions of its own, which other passes skip.

Before:

    func.func @main(%x: T) -> T {
      %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
      %y = relay.exp(%b)
      %e = relay.annotation.compiler_end(%y) {compiler = "ccompiler"}
      %z = relay.negative(%e)
      func.return %z
    }

After:

    func.func @main(%x: T) -> T {
      %y = func.call @tvmgen_default_ccompiler_main_0(%x)
      %z = relay.negative(%y)
      func.return %z
    }
    func.func private @tvmgen_default_ccompiler_main_0(%ccompiler_0_i0: T) -> T
        attributes {Compiler = "ccompiler", Primitive = 1, Inline = 1, global_symbol = "…"} {
      %y = relay.exp(%ccompiler_0_i0)
      func.return %y
    }

The name is Relay's: "tvmgen", `mod-name`, the compiler, the enclosing function, and the index of the region's first
begin in Relay's visit order; characters that C symbols cannot contain become underscores. Annotations for "default" are
removed, and so are regions without ops. If the compiler has an optimizer (`function_optimizers.py`), it is applied to
its functions.

Refuses (`PassError`): inconsistent annotations (see `annotated_regions.py`), a region that depends on a value that
depends on the region, a region that defines an extent which is named outside of it, and an optimizer that fails or
returns a function of another type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.annotation import CompilerEndOp
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.graph.scopes import ValueUses
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dissolve_compiler_regions import remove_annotations
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import update_signatures
from xrelay.relay.byoc.annotated_regions import AnnotatedRegion, RegionSet
from xrelay.relay.byoc.function_optimizers import optimized
from xrelay.relay.byoc.region_function import RegionOutliner
from xrelay.relay.byoc.target_support import DEFAULT

PASS_NAME = "relay-partition-graph"


@dataclass(frozen=True)
class RelayPartitionGraphPass(XRelayPass):
    """Outline annotated regions into functions; see the module's docstring. Exact."""

    name = PASS_NAME
    numerics = EXACT

    mod_name: str = field(
        default="default", metadata={"help": "name of the module, a prefix of the names of functions"}
    )
    bind_constants: bool = field(default=True, metadata={"help": "put constants into the functions"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        partition_graph(op, self.mod_name, bind_constants=self.bind_constants)


def partition_graph(module: ModuleOp, mod_name: str = "default", *, bind_constants: bool = True) -> list[FuncOp]:
    """Outline the annotated regions of `module` into functions at its end; returns the functions."""
    _flatten_ends_of_tuples(module)
    remove_annotations(module, DEFAULT)
    given = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    taken = {function.sym_name.data for function in given}
    made: list[FuncOp] = []
    for function in given:
        if not function.is_declaration:
            made += _partition(function, mod_name, taken, bind_constants=bind_constants)
    for function in made:
        module.body.block.add_op(function)
    update_signatures(module)
    if made and any(isinstance(op, NamedCallOp) for op in walk_ops(module)):
        infer_types(module)
    return made


def _partition(function: FuncOp, mod_name: str, taken: set[str], *, bind_constants: bool) -> list[FuncOp]:
    """Replace the regions of `function` by calls; returns the called functions."""
    regions = RegionSet(function, PASS_NAME)
    if not regions.regions:
        return []
    regions.ordered_needs()
    made: list[FuncOp] = []
    for region in regions.regions:
        if region.members and region.ends:
            stem = f"tvmgen_{mod_name}_{region.compiler}_{function.sym_name.data}_{region.number}"
            name = fresh_name(re.sub(r"[^A-Za-z0-9_]", "_", stem), taken)
            outliner = RegionOutliner(region, function, name, bind_constants=bind_constants)
            made.append(optimized(outliner.outline(), region.compiler))
        else:
            _remove_borders(region)
    _put_before_users(function)
    return made


def _remove_borders(region: AnnotatedRegion) -> None:
    """Remove the annotations of a region without ops or ends."""
    values = Replacements()
    for op in (*region.begins, *region.ends):
        values.add(op.result, op.data)
    values.apply()
    for op in (*region.begins, *region.ends):
        erase_op(op)


def _put_before_users(function: FuncOp) -> None:
    """Sort each block topologically, since a call is inserted at an end of its region."""
    uses = ValueUses(function)
    blocks = [block for op in walk_ops(function) for region in op.regions for block in region.blocks]
    for block in blocks:
        ops = list(block.ops)
        ordered = post_order(ops, uses.needed_ops)
        if ordered != ops:
            for op in ops:
                op.detach()
            block.add_ops(ordered)


def _flatten_ends_of_tuples(module: ModuleOp) -> None:
    """Ends the region of a tuple at the fields of the tuple.

        %t = relay.tuple(%a, %b)
        %e = relay.annotation.compiler_end(%t) {compiler = "c"}
    becomes
        %f = relay.annotation.compiler_end(%a) {compiler = "c"}
        %g = relay.annotation.compiler_end(%b) {compiler = "c"}
        %e = relay.tuple(%f, %g)
    """
    values, changed, tuples = Replacements(), list[CompilerEndOp](), dict[TupleOp, None]()
    pending = [op for op in walk_ops(module) if isinstance(op, CompilerEndOp)]
    while pending:
        end = pending.pop()
        made = end.data.owner
        if not isinstance(made, TupleOp):
            continue
        ends = [CompilerEndOp.call(field, compiler=end.compiler) for field in made.fields]
        new = TupleOp.create(operands=[each.result for each in ends], result_types=[end.result.type])
        for op in (*ends, new):
            op.location = end.location
        Rewriter.insert_op([*ends, new], InsertPoint.before(end))
        new.result.name_hint = end.result.name_hint
        values.add(end.result, new.result)
        changed.append(end)
        tuples[made] = None
        pending += ends
    values.apply()
    for end in changed:
        erase_op(end)
    for made in tuples:  # users precede their operands
        if made.result.first_use is None:
            erase_op(made)

"""`relay-to-mixed-precision`: computes in floats of fewer bits where that is worth it and safe.

What: f32 values become values of the mixed type, `float16` unless told otherwise. What an operator says of itself
(`RelayOp.MIXED_PRECISION`) decides: those that ALWAYS gain, as convolutions and matrix products, take casts of their
operands; those that FOLLOW are done in the mixed type where each float among their operands has it already, or is a
parameter, a constant or a bound variable, which are cast; those that NEVER should, as a softmax or a mean, get back the
f32 of which a value was cast. Why: half the bytes to load and to store; a network's weights are what costs memory and,
at small batches, time. Sums are still taken in f32, whatever the type (`docs/topi.md`).

Before:

    func.func @main(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<1x4xf32> {
      %a = relay.nn.dense(%x, %w)
      %b = relay.nn.relu(%a)
      %c = relay.nn.softmax(%b)

After:

      %0 = relay.cast(%x) {dtype = f16}
      %1 = relay.cast(%w) {dtype = f16}
      %a = relay.nn.dense(%0, %1)                   of f16
      %b = relay.nn.relu(%a)                        of f16
      %2 = relay.cast(%b) {dtype = f32}
      %c = relay.nn.softmax(%2)                     of f32

A value is cast once for all that stand in the same block or inside of it; a cast back is the value itself. Casts of
constants are for `relay-fold-constant`. Parameters keep their types; results of a function that nothing calls have the
type in which they are computed, unless `keep-orig-output-dtype` asks for casts back.

Of an operator that says nothing of itself, `missing-op-mode` 0 makes an error, 1 a remark, and 2 nothing; it follows.
Left alone: floats of other types than f32, and integers; what functions, closures, branches and loops take and give;
groups and kernels; ops whose types are not inferred, as nobody knows what a result was. An op that does not take the
mixed type stays in f32, with a remark; so does a clip with a finite bound that the mixed type does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.locations import describe_place
from xrelay.errors import PassError, TypeInferenceError
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.symbols import mentioned_symbols
from xrelay.passes.relay.precision_rewriter import PrecisionRewriter
from xrelay.passes.types.type_upkeep import update_signatures

NAME = "relay-to-mixed-precision"
FORBIDDEN, REMARKED, ALLOWED = MODES = (0, 1, 2)
"""What to make of operators that say nothing of themselves."""


@dataclass(frozen=True)
class RelayToMixedPrecisionPass(ModulePass):
    """Compute in floats of fewer bits where operators say that it is safe; see the module's docstring."""

    name = NAME

    mixed_precision_type: str = field(
        default="float16", metadata={"help": "the type to compute in: float16, bfloat16 or float64"}
    )
    missing_op_mode: int = field(
        default=REMARKED,
        metadata={"help": "an operator that says nothing of itself is 0: an error, 1: a remark, 2: let through"},
    )
    keep_orig_output_dtype: bool = field(
        default=False, metadata={"help": "cast the results of functions back to the types that they had"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        mixed = self._mixed_type()
        remarks = Remarks(NAME)
        used = set(mentioned_symbols(op))
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes and not function.is_declaration:
                keeps_results = self.keep_orig_output_dtype or function.sym_name.data in used
                rewriter = PrecisionRewriter(mixed, remarks)
                rewriter.run(function, keeps_results=keeps_results)
                self._tell_missing(rewriter, remarks)
        update_signatures(op)
        report(remarks.all)

    def _mixed_type(self) -> Attribute:
        """The element type to compute in; `PassError` where that is no float, and for another mode than there are."""
        try:
            mixed = element_type(self.mixed_precision_type)
        except TypeInferenceError:
            mixed = None
        if not isinstance(mixed, AnyFloat):
            raise PassError(
                f"{NAME}: mixed-precision-type {self.mixed_precision_type!r} is no type of floats",
                help="write float16 or bfloat16",
            )
        if self.missing_op_mode not in MODES:
            raise PassError(f"{NAME}: missing-op-mode must be 0, 1 or 2, found {self.missing_op_mode}")
        return mixed

    def _tell_missing(self, rewriter: PrecisionRewriter, remarks: Remarks) -> None:
        """`PassError` or a remark for each operator that says nothing of itself."""
        for ops in rewriter.missing.values():
            text = f"says nothing of mixed precision and stands here {len(ops)} times"
            if self.missing_op_mode == FORBIDDEN:
                raise PassError(
                    f"{NAME}: {ops[0].name} {text}",
                    location=describe_place(ops[0]),
                    help="declare MIXED_PRECISION in its class, or let it follow with missing-op-mode=1",
                )
            if self.missing_op_mode == REMARKED:
                remarks.refused(ops[0], f"{text}; it follows its operands")

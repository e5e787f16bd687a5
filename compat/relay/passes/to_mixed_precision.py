"""`relay-to-mixed-precision`: computes in floats of fewer bits if that is profitable and safe.

Narrower floats halve the bytes to load and to store; the weights of a network dominate its memory and, for small
batches, its time. f32 values become values of the mixed type, by default `float16`, depending on the category of each
operator (`RelayOp.MIXED_PRECISION`):

- ALWAYS, as for convolutions and matrix products: all f32 operands are cast to the mixed type.
- FOLLOW: the operator uses the mixed type if every float operand has it already, or is a parameter, a constant or a
  variable bound by a let, which are cast.
- NEVER, as for a softmax or a mean: operands are cast back to f32, or are the f32 values from which they were cast.

Sums are still added in f32, whatever the type (`docs/topi.md`).

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

A value is cast once for all users in the same block or nested blocks; a cast back to the original type is the original
value. `relay-fold-constant` evaluates casts of constants. Parameters keep their types. Results of a function without
callers have the type in which they are computed, unless `keep-orig-output-dtype` is set.

An operator without a category FOLLOWs; `missing-op-mode` 0 raises an error for it, 1 reports a remark, 2 does neither.

Not changed: floats of other types than f32, and integers; operands and results of functions, closures, branches and
loops; fused groups and kernels; ops whose types are not inferred. An op that does not support the mixed type remains in
f32, with a remark, and so does a clip with a finite bound that the mixed type cannot represent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import PassError, TypeInferenceError
from xrelay.passes.graph.calls import mentioned_symbols
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.infra.xrelay_pass import XRelayPass, quantises
from xrelay.passes.types.type_upkeep import update_signatures
from xrelay.relay.passes.precision_rewriter import PrecisionRewriter

NAME = "relay-to-mixed-precision"
FORBIDDEN, REMARKED, ALLOWED = MODES = (0, 1, 2)
"""The values of `missing-op-mode`: error, remark or neither for operators without a category."""


@dataclass(frozen=True)
class RelayToMixedPrecisionPass(XRelayPass):
    """Computes in floats of fewer bits if that is profitable and safe; see the module's docstring."""

    name = NAME
    numerics = quantises("floats have fewer bits, and results may have another float type")

    mixed_precision_type: str = field(
        default="float16", metadata={"help": "the type to compute in: float16, bfloat16 or float64"}
    )
    missing_op_mode: int = field(
        default=REMARKED,
        metadata={"help": "for an operator without a category: 0 is an error, 1 a remark, 2 neither"},
    )
    keep_orig_output_dtype: bool = field(
        default=False, metadata={"help": "cast the results of functions back to their original types"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        mixed = self._mixed_type()
        remarks = Remarks(NAME)
        used = set(mentioned_symbols(op))
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes and not function.is_declaration:
                keeps_results = self.keep_orig_output_dtype or function.sym_name.data in used
                rewriter = PrecisionRewriter(mixed, remarks)
                rewriter.run(function, keeps_results=keeps_results)
                self._report_missing(rewriter, remarks)
        update_signatures(op)
        report(remarks.all)

    def _mixed_type(self) -> Attribute:
        """The mixed type; raises `PassError` if it is not a float type, or if `missing-op-mode` is invalid."""
        try:
            mixed = element_type(self.mixed_precision_type)
        except TypeInferenceError:
            mixed = None
        if not isinstance(mixed, AnyFloat):
            raise PassError(
                f"{NAME}: mixed-precision-type {self.mixed_precision_type!r} is not a float type",
                help="write float16 or bfloat16",
            )
        if self.missing_op_mode not in MODES:
            raise PassError(f"{NAME}: missing-op-mode must be 0, 1 or 2, found {self.missing_op_mode}")
        return mixed

    def _report_missing(self, rewriter: PrecisionRewriter, remarks: Remarks) -> None:
        """Raises `PassError`, or adds a remark, for each operator without a category."""
        for ops in rewriter.missing.values():
            text = f"has no category for mixed precision and occurs {len(ops)} times"
            if self.missing_op_mode == FORBIDDEN:
                raise PassError(
                    f"{NAME}: {ops[0].name} {text}",
                    location=describe_location(ops[0]),
                    help="declare MIXED_PRECISION in its class, or let it follow with missing-op-mode=1",
                )
            if self.missing_op_mode == REMARKED:
                remarks.refused(ops[0], f"{text}; it follows its operands")

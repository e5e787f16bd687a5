"""`relay-fake-quantization-to-integer`: converts float regions between quantised tensors to integer arithmetic.

Frameworks write quantised networks as float ops between `relay.qnn.dequantize` and `relay.qnn.quantize`, and integer
ops are faster. Many float ops have an integer form, which takes integers with their scale and zero point. The pass
replaces the ops on paths from a dequantisation to a quantisation by these forms, and the quantisation by a
requantisation, or by nothing if the scale is already right. It runs on request only, because results may differ.

Before:

    %a = relay.qnn.dequantize(%x, %sx, %zx)
    %b = relay.qnn.dequantize(%w, %sw, %zw) {axis = 0}
    %c = relay.nn.conv2d(%a, %b)
    %d = relay.nn.relu(%c)
    %y = relay.qnn.quantize(%d, %sy, %zy)

After:

    %c = relay.qnn.conv2d(%x, %w, %zx, %zw, %sx, %sw)              of i32
    %d = relay.maximum(%c, %zero)
    %y = relay.qnn.requantize(%d, %scale, %zero, %sy, %zy)         %scale is the product of %sx and %sw

A result differs from that of the floats by at most its scale. `nn.avg_pool2d` rounds the mean to a step of its operand,
or to a finer one if the steps of the result are smaller. Products and sums are exact in 32 bits; constants that are
added to them are rounded to a multiple of their scale. An op that rounds (`add`, `sigmoid`, …) rounds to the steps of
the following quantisation; only ops that keep the steps (`reshape`, `nn.relu`, `nn.max_pool2d`, …) may lie in between.
Elementwise functions of one 8-bit tensor without such a form become a lookup in a table of 256 numbers, which is exact.

Refuses, with a remark that names the op and the reason, and with an error under `hard-fail`: a region with an op
without an integer form; sums that may overflow 32 bits; scales that are not finite, or along two axes of one op; ops
that compare numbers whose scale is not known to be positive. Floats may overflow where the integers do not.
Left alone: regions that begin with floats, such as the quantisation of an input, and values that other ops read.

With `use-qat`, the pass then replaces every other op whose operands are dequantised by its integer form, and
dequantises the result. A constant that is added there must be a multiple of the scale, except for the bias of
`nn.bias_add`, which is rounded. Optional ops (`nn.softmax`) stay in floats unless `optional-qnn-ops` names them. Rules
registered by other packages (`integer_rules.py`) take precedence over the pass's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError, did_you_mean
from xrelay.passes.graph.remarks import report
from xrelay.passes.graph.rewriting import rewrite
from xrelay.passes.infra.xrelay_pass import XRelayPass, quantises
from xrelay.passes.qnn.integer_regions import IntegerRegions
from xrelay.passes.qnn.integer_rules import all_integer_rules


@dataclass(frozen=True)
class RelayFakeQuantizationToIntegerPass(XRelayPass):
    """Converts float regions between quantised tensors to integer arithmetic; see the module's docstring."""

    name = "relay-fake-quantization-to-integer"
    numerics = quantises("a result may be one step from the rounded float")
    per_function = True

    hard_fail: bool = field(default=False, metadata={"help": "fail if a region with quantised inputs stays float"})
    use_qat: bool = field(
        default=False, metadata={"help": "also rewrite ops whose result is not quantised, and dequantise the result"}
    )
    optional_qnn_ops: tuple[str, ...] = field(
        default=(), metadata={"help": "ops to rewrite in addition, such as nn.softmax"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        _check_optional(self.optional_qnn_ops)
        regions = IntegerRegions(op, frozenset(self.optional_qnn_ops))
        regions.rewrite(hard_fail=self.hard_fail)
        if self.use_qat:
            regions.rewrite_single_ops()
        rewrite(op, {})
        report(regions.remarks.all)


def _check_optional(names: Sequence[str]) -> None:
    """Raises `PassError` for names of ops that are not optional."""
    optional = sorted(name for name, rule in all_integer_rules().items() if rule.optional)
    for name in names:
        if name not in optional:
            known = did_you_mean(name, optional, f"optional ops are {', '.join(optional)}")
            raise PassError(
                f"relay-fake-quantization-to-integer: optional-qnn-ops names {name!r}, which is not an optional op",
                help=known,
            )

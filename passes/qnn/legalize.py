"""`qnn-legalize`: replaces functions of 8-bit quantised numbers by table lookups.

`relay.qnn.exp` and the other functions of one number, including `relay.qnn.leaky_relu`, become lookups in a table if
scales and zero points are constants. An 8-bit number has only 256 values, so the interpreter computes the table at
compile time. The results equal those of the operator's definition bit for bit.

Before:

    %y = relay.qnn.exp(%x, %s, %z, %t, %u) : (tensor<4xi8>, tensor<f32>, …) -> tensor<4xi8>       of constants

After:

    %b = relay.reinterpret(%x) {dtype = ui8}
    %i = relay.cast(%b) {dtype = i32}
    %y = relay.take(%table, %i) {mode = "fast"}                      a constant of 256 numbers

Refuses integers of more bits, whose functions `qnn-canonicalize-ops` expands; scales and zero points that are not
constants; and ops of unknown types.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.qnn.unary import QnnFunctionOp, QnnSoftmaxOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite_derived
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.qnn.tables import all_numbers, evaluated, look_up


@dataclass(frozen=True)
class QnnLegalizePass(XRelayPass):
    """Replaces functions of 8-bit quantised numbers by table lookups; see the module's docstring."""

    name = "qnn-legalize"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite_derived(op, QnnFunctionOp, LookUpFunction())


class LookUpFunction(RewritePattern):
    """Replaces a function of one 8-bit number by a lookup in a table. Exact.

    Before:

        %y = relay.qnn.sqrt(%x, %s, %z, %t, %u) : (tensor<4xui8>, tensor<f32>, …) -> tensor<4xui8>

    After:

        %i = relay.cast(%x) {dtype = i32}
        %y = relay.take(%table, %i) {mode = "fast"}
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its parameters are constants and each element of its result depends on one of its data."""
        if isinstance(op, QnnSoftmaxOp):
            return
        data, *parameters = op.operands
        constants = [constant_of(parameter) for parameter in parameters]
        known = [constant for constant in constants if constant is not None]
        if not isinstance(data.type, TensorType) or len(known) != len(constants):
            return
        if numpy_dtype(data.type.element_type).itemsize == 1:
            emit = Emitter(rewriter, op)
            table = np.asarray(evaluated(op, [all_numbers(data), *known]))
            emit.replace(look_up(emit, data, table, f"{op.name.removeprefix('relay.')}.table"))

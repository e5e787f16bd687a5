"""Helpers of passes over relay: patterns by op class, constants, and replacement of ops.

rewrite(module, {get_relay_op("divide"): MultiplyInstead()})
"""

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite, rewrite_once
from xrelay.passes.infra.verify import walk_ops

__all__ = [
    "ConstantOp",
    "Emitter",
    "Remark",
    "Remarks",
    "constant_of",
    "owner_of",
    "report",
    "rewrite",
    "rewrite_once",
    "walk_ops",
]

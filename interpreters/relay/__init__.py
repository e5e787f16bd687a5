"""The relay interpreter: reference implementations of the operators in numpy, and the evaluator of graphs.

It is the oracle of tests and the evaluator of constant folding. Another package registers the evaluator of its op:

    @evaluates(MyOp)
    def evaluate_my_op(op: MyOp, data: Array) -> Array: ...
"""

from __future__ import annotations

from xrelay.dialects.shared.types import Value
from xrelay.interpreters.relay.registry import apply_op, can_evaluate, evaluate_op, evaluates
from xrelay.interpreters.relay.run import run_relay
from xrelay.registrations import import_modules

import_modules("xrelay.interpreters.relay")

__all__ = ["Value", "apply_op", "can_evaluate", "evaluate_op", "evaluates", "run_relay"]

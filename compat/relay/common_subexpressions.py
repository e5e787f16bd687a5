"""`EliminateCommonSubexpr` with Relay's interface: `fskip` receives expressions."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xrelay.passes.relay.eliminate_common_subexpr import eliminate_common_subexpressions
from xrelay.relay.expr import Expr, view


def eliminate_common_subexpressions_of(
    module: ModuleOp,
    *,
    fskip: Callable[[Expr], bool] | None = None,
    skip: Callable[[Operation], bool] | None = None,
) -> int:
    """Merges equal ops, except those for which a predicate holds; returns the number of ops erased.

    `fskip` receives each expression as in Relay's pass: a `relay.Call` with its `op` and `attrs`, a `relay.Constant`
    and so on. `skip` receives the xDSL op.
    """

    def is_left_alone(op: Operation) -> bool:
        return (skip is not None and skip(op)) or (fskip is not None and bool(fskip(view(op.results[0]))))

    return eliminate_common_subexpressions(module, skip=is_left_alone)

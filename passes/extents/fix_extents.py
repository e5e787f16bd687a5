"""`relay-fix-extents`: a named dimension of an input that an op requires to be a number becomes this number.

Kernels for constant extents have static tiles, and kernels of weights in blocks can be selected. If an op that runs in
each call of `@main` requires `64 == c`, a call with another `c` fails. So the input has the extent 64.

Before:

    func.func @main(%x: tensor<?x?xf32, #relay.dims<n, c>>) -> tensor<?x8xf32, #relay.dims<n>> {
      %y = relay.nn.dense(%x, %w) {relay.requires = #relay.requirements<64 == c "C2 depth">} : …

After:

    func.func @main(%x: tensor<?x64xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<n>> {
      %y = relay.nn.dense(%x, %w) : …

A call with another extent gets the error for an input of the wrong shape, before any op runs. The numbers follow from
all such requirements together: `n == m` and `m == 64` fix `n`, too.

Not changed: dimensions that only ops in regions, or ops without needed results, require to be numbers, because calls in
which these ops do not run may have other extents; programs in which a function calls `@main`; kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.size_hints import remove_size_hints
from xrelay.dialects.relay.structure.call import callee_name, is_call, names_in
from xrelay.dialects.shared.requirements import requirements_of
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.index_algebra.shape_environment import ShapeEnvironment
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.record_requirements import needed_by_the_end
from xrelay.passes.types.type_upkeep import renew_requirements

_MAIN = "main"


@dataclass(frozen=True)
class RelayFixExtentsPass(XRelayPass):
    """Replaces dimensions of inputs by the numbers that ops require; see the module's docstring. Exact."""

    name = "relay-fix-extents"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        main = next((each for each in op.ops if isinstance(each, FuncOp) and each.sym_name.data == _MAIN), None)
        if main is None or any(is_call(each) and callee_name(each) == _MAIN for each in walk_ops(op)):
            return
        sizes = _required_sizes(main)
        if sizes:
            DimSubstitution(sizes).apply([main])
            remove_size_hints(main, sizes)
            renew_requirements(op)


def _required_sizes(main: FuncOp) -> Mapping[str, Dim]:
    """Returns the numbers that the requirements of each call imply for the dimensions of the inputs."""
    names = list(names_in(main.function_type.inputs))
    block = main.body.blocks.first
    if not names or block is None:
        return {}
    environment = ShapeEnvironment(names)
    needed = needed_by_the_end(block)
    for requirement in (each for op in block.ops if op in needed for each in requirements_of(op)):
        environment.add(requirement)
    sizes = {name: environment.simplify(symbol(name)) for name in names}
    return {name: size for name, size in sizes.items() if isinstance(size, int)}

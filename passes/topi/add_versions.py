"""`topi-add-versions`: a second version of kernels that a certain size makes much simpler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass

from xrelay.dialects.attribute_names import EXPANDED_FROM, PRIMITIVE, VERSION
from xrelay.dialects.loop.versions import KernelVersion
from xrelay.dialects.relay.core.size_hints import SizeHint, size_hints
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.batch_matmul import BatchMatmulOp
from xrelay.dialects.topi.named.matmul import MatmulOp
from xrelay.dialects.topi.specialize import specialized
from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import Dim, evaluate, names_of
from xrelay.passes.infra.verify import walk_ops

MAX_ROWS = 64
"""Of how many rows of a product on the tiles of a version and those of the kernel itself take the same time."""


@dataclass(frozen=True)
class TopiAddVersionsPass(ModulePass):
    """Adds, beside a matrix product of rows that only a run tells, the same kernel for so many rows as are usual.

    ```
    func.func private @k(%x: tensor<?x64xf32,        →    func.func private @k(…) …
        #relay.dims<n>>, …) …                             func.func private @k_n1(%x: tensor<1x64xf32>, …)
                                                              attributes {loop.version = {of = @k, sizes = {n = 1}, …}}
    ```

    `scf-select-versions` lets the kernel choose when it is called. The usual size is that of `relay.sizes`; a kernel of
    a single name of which nothing is said gets a version for 1, as of a batch. That is where a version pays: a tile of
    rows holds a product's sums, and one row, or fewer rows than a tile has, take the time of a tile (1.7 to 2.9 times
    that of a kernel for one row). A convolution, a softmax or a broadcast of extents that are told their usual size
    runs as fast as a static one, so it has no version; nor has a product of more than 64 usual rows. A kernel has one
    version at most.
    """

    name = "topi-add-versions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds versions to the module."""
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp)}
        seen: set[str] = set()
        for function in list(functions.values()):
            if PRIMITIVE in function.attributes:
                continue
            hints = size_hints(function)
            for call in walk_ops(function):
                name = call.callee.string_value() if isinstance(call, CallOp) else ""
                kernel = functions.get(name)
                if kernel is not None and PRIMITIVE in kernel.attributes and name not in seen:
                    seen.add(name)
                    if (version := _version(kernel, hints, functions)) is not None:
                        op.body.block.add_op(version)
                        functions[version.sym_name.data] = version


def _version(kernel: FuncOp, hints: Mapping[str, SizeHint], functions: Mapping[str, FuncOp]) -> FuncOp | None:
    """The version of a kernel that pays; `None` where none does."""
    names = names_in(kernel.function_type.inputs)
    rows = [rows for op in kernel.body.block.ops if (rows := _rows(op))]
    chosen = _chosen(names, hints)
    if chosen is None or not rows:
        return None
    sizes, reason = chosen
    try:
        count = max(prod(evaluate(dim, sizes) for dim in dims) for dims in rows)
        version = specialized(kernel, sizes)
    except DimensionError:
        return None
    name = "_".join([kernel.sym_name.data, *(f"{name}{size}" for name, size in sizes.items())])
    if not 0 < count <= MAX_ROWS or name in functions:
        return None
    version.sym_name = StringAttr(name)
    told = KernelVersion(kernel.sym_name.data, sizes, f"{reason}: a product of {count} row{'s' if count != 1 else ''}")
    version.attributes[VERSION] = told.attribute()
    return version


def _chosen(names: list[str], hints: Mapping[str, SizeHint]) -> tuple[dict[str, int], str] | None:
    """The sizes for which a kernel of these names may have a version, and where they come from."""
    if names and all(name in hints for name in names):
        return {name: hints[name].usual for name in names}, "usual"
    if len(names) == 1 and names[0] not in hints:
        return {names[0]: 1}, "nothing is said of it"
    return None


def _rows(op: object) -> list[Dim]:
    """The extents of a matrix product that number its rows, where one of them has a name; else none."""
    source = op.attributes.get(EXPANDED_FROM) if isinstance(op, ComputeOp) else None
    if not isinstance(op, ComputeOp) or not isinstance(source, StringAttr) or not op.reduction:
        return []
    if source.data == MatmulOp.name:
        rows = list(op.spatial[:-1])
    elif source.data == BatchMatmulOp.name:
        rows = list(op.spatial[-2:-1])
    else:
        return []
    return rows if any(names_of(dim) for dim in rows) else []

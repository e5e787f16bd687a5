"""`topi-add-versions`: versions of kernels for certain sizes that make them much simpler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from xrelay.dialects.loop.versions import KernelVersion
from xrelay.dialects.relay.core.size_hints import SizeHint, size_hints
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.shared.attribute_names import EXPANDED_FROM, PRIMITIVE, VERSION
from xrelay.dialects.shared.recorded_requirements import demands_of
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
    """Adds, beside a matrix product of rows that only a run tells, the same kernel for so many rows as are usual, or 1.

    ```
    func.func private @k(%x: tensor<?x64xf32,        →    func.func private @k(…) …
        #relay.dims<n>>, …) …                             func.func private @k_n1(%x: tensor<1x64xf32>, …)
                                                              attributes {loop.version = {of = @k, sizes = {n = 1}, …}}
    ```

    `scf-select-versions` lets the kernel choose when it is called. There is a version for the usual sizes, which
    `relay.sizes` says, where names that number rows, and of which nothing is said, are 1; and one for 1 of the names
    that number rows, unless the promise is that they are more. All other names stay open in it: how many products there
    are, how deep and how wide: one query against 512 keys of 64 in 12 heads takes 58 us with names left open, and took
    203. That is where a version pays: a tile of rows holds a product's sums, and one row, or fewer rows than a tile
    has, take the time of a tile (1.7 to 2.9 times that of a kernel for one row). So there is none for more than 64
    rows, nor for sizes that the demands of the kernel's ops rule out. Where nothing is said of several names that
    number rows together there is none either: all of them 1 at once is rare, and a kernel takes its time to compile. A
    convolution, a softmax or a broadcast of extents that are told their usual size runs as fast as a static one.
    Equality of extents has none: it makes no extent a number, and products of 64 to 384 rows by as many columns take
    the same time, within 4 %, whether kernels know it or not.
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
                    for version in _versions(kernel, call, hints, functions):
                        op.body.block.add_op(version)
                        functions[version.sym_name.data] = version


def _versions(
    kernel: FuncOp, call: Operation, hints: Mapping[str, SizeHint], functions: Mapping[str, FuncOp]
) -> list[FuncOp]:
    """The versions of a kernel that pay, of which `call` is a call."""
    rows = [rows for op in kernel.body.block.ops if (rows := _rows(op))]
    names = names_in(kernel.function_type.inputs)
    found: list[FuncOp] = []
    for sizes, reason in _candidates(names, rows, hints) if rows else ():
        try:
            if _is_demanded_otherwise(call, sizes):
                continue
            count = max(prod(evaluate(dim, sizes) for dim in dims) for dims in rows)
            version = specialized(kernel, sizes, stay=[name for name in names if name not in sizes])
        except DimensionError:
            continue
        name = "_".join([kernel.sym_name.data, *(f"{name}{size}" for name, size in sizes.items())])
        if not 0 < count <= MAX_ROWS or name in functions:
            continue
        version.sym_name = StringAttr(name)
        text = f"{reason}: a product of {count} row{'s' if count != 1 else ''}"
        version.attributes[VERSION] = KernelVersion(kernel.sym_name.data, sizes, text).attribute()
        found.append(version)
    return found


def _is_demanded_otherwise(call: Operation, sizes: Mapping[str, int]) -> bool:
    """Whether a call demands what does not hold at these sizes: its kernel never runs at them."""
    told = (each for demand in demands_of(call) for each in demand.requirements)
    return any(each.names <= sizes.keys() and not each.holds(sizes) for each in told)


def _candidates(
    names: Sequence[str], rows: Sequence[Sequence[Dim]], hints: Mapping[str, SizeHint]
) -> Iterator[tuple[dict[str, int], str]]:
    """The sizes for which a kernel of these names may have a version, and where they come from."""
    counting = {name for dims in rows for dim in dims for name in names_of(dim)}
    single = {name: 1 for name in names if name in counting}
    if hints.keys().isdisjoint(names):
        if len(single) == 1:
            yield single, "nothing is said of it"
        return
    usual = {name: hints[name].usual if name in hints else 1 for name in names if name in hints or name in counting}
    unknown = [name for name in single if name not in hints]
    yield usual, "usual" if not unknown else f"usual, and 1 of what nothing is said: {', '.join(unknown)}"
    if not single.items() <= usual.items() and all(hints[name].least <= 1 for name in counting & hints.keys()):
        yield single, "not usual, but a tile would be mostly empty"


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

"""`xrelay explain versions`: the kernels with versions for certain sizes, and the reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xrelay.dialects.loop.signature import dim_arguments, kernel_dims
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import PART_OF_KERNEL

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def version_lines(module: ModuleOp) -> Iterator[str]:
    """Yields lines about the kernels with extents as arguments in a module at the scf level.

    A kernel has a line per version, or a line that it has none. Without such kernels there is a single line.
    """
    from xdsl.dialects.func import FuncOp

    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks and op.sym_visibility is not None]
    versions = versions_by_kernel(functions)
    kernels = [each for each in functions if PART_OF_KERNEL not in each.attributes and dim_arguments(each)]
    for kernel in kernels:
        name = kernel.sym_name.data
        for function, version in versions.get(name, ()):
            sizes = ", ".join(f"{dim} = {size}" for dim, size in version.sizes.items())
            open_names = sorted(set[str]().union(*(dim.names for dim in kernel_dims(function))))
            sizes += f" and any {', '.join(open_names)}" if open_names else ""
            yield f"@{name}: @{function.sym_name.data} for {sizes}; {version.reason}"
        if name not in versions:
            yield f"@{name}: one version, for all sizes"
    if not kernels:
        yield "no kernel has dynamic extents: all sizes are known"

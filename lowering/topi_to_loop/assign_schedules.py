"""`loop-assign-schedules`: assigns to every kernel the schedule that an analytical model of the target proposes."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.lowering.topi_to_loop.schedules.choose_family import NO_FAMILY, Origin, registered_families
from xrelay.lowering.topi_to_loop.schedules.shared_schedules import schedule_kernels
from xrelay.passes.infra.conversion import dispose
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.target import Target

NAMED: Final = 3
"""The number of kernels that a warning lists."""


@dataclass(frozen=True)
class LoopAssignSchedulesPass(XRelayPass):
    """Attaches a schedule to every kernel without one, as an attribute, with the reason for it and the expected cycles.

    ```
    func.func private @k(…) attributes {loop.kernel} {…}
    ```

    becomes

    ```
    func.func private @k(…) attributes {loop.kernel,
        loop.schedule = #loop.schedule<[split("w", 14), …]>,
        loop.schedule_reason = "conv2d_nchwc: 14 columns x 2 blocks of 16 channels = 28 accumulators; …",
        loop.schedule_cycles = 51200 : i64
    } {…}
    ```

    The nests stay unchanged until `loop-apply-schedules`. Each primitive has been tried on a copy of the kernel, so an
    assigned schedule can be applied. Kernels that already have a schedule (written by hand, or tuned) stay unchanged.
    The `target` has the syntax of `Target.parse`, in quotes: `loop-assign-schedules{target="cpu -mcpu=znver4"}`.

    Kernels that `loop-parametrize-kernels` can replace by one get one schedule, if the best candidate is the same for
    all: that of the most expensive of them.

    Schedules that programs and plug-ins register are tried first. If one is not legal for a kernel, the pass warns, and
    the kernel gets a built-in schedule. With `families=registered`, kernels that no registered family accepts stay
    unchanged; with `families=own`, registered families are not tried.
    """

    name = "loop-assign-schedules"
    numerics = EXACT

    target: str = field(default="cpu", metadata={"help": "the CPU, e.g. 'cpu -mcpu=znver4 -num-threads=2'"})
    families: Origin = field(default="all", metadata={"help": "the families to try: all, registered or own"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotates the kernels of the module in place."""
        registered = registered_families()
        if self.families == "registered" and not registered:
            return
        target = Target.parse(self.target)
        refused: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        kernels = [kernel for kernel in kernels_of(op) if SCHEDULE not in kernel.attributes]
        for kernel, chosen in schedule_kernels(op, kernels, target, self.families).items():
            for family, reason in chosen.refused.items():
                refused[family, reason].append(f"@{kernel.sym_name.data}")
            if chosen.family == NO_FAMILY and self.families == "registered":
                continue
            kernel.attributes[SCHEDULE] = chosen.schedule
            chosen.describe(kernel)
            if chosen.scheduled is not None:
                dispose(chosen.scheduled.detach_region(0))
        for (family, reason), kernels in refused.items():
            if family in registered:
                _warn(family, reason, kernels)


def _warn(family: str, reason: str, kernels: Sequence[str]) -> None:
    """Warns about a registered schedule that is not legal for some kernels."""
    names = ", ".join(kernels[:NAMED]) + (f" and {len(kernels) - NAMED} more" if len(kernels) > NAMED else "")
    message = f"the registered schedule {family!r} is not legal for {names} and not used there: {reason}"
    warnings.warn(message, RuntimeWarning, stacklevel=2)

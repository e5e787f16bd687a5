"""Linux's permission to use the tile registers of Intel's AMX.

Their state takes 8 KiB for each thread, so a process must request it, once and before the first such instruction. The
permission is that of all threads of the process, and of processes that it forks.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterable
from functools import cache
from typing import Final

_ARCH_PRCTL: Final = 158
"""The number of the system call on x86-64."""
_ARCH_REQ_XCOMP_PERM: Final = 0x1023
"""Its code for a request of permission, since Linux 5.16."""
_XTILEDATA: Final = 18
"""The number of the state component of tile registers."""
_TILE_FEATURES: Final = "amx-"
"""The prefix of LLVM's names of the features that need the permission."""


def usable_features(features: Iterable[str]) -> frozenset[str]:
    """Returns the features of this CPU that this process may use, out of those that the CPU has, by LLVM's names.

    Requests the permission to use tile registers if the CPU has them. Without it, their features are left out.
    """
    found = frozenset(features)
    tiles = frozenset(name for name in found if name.startswith(_TILE_FEATURES))
    return found if not tiles or request_tiles() else found - tiles


@cache
def request_tiles() -> bool:
    """Requests the permission to use tile registers; returns whether the system grants it."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    return ctypes.CDLL(None).syscall(_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XTILEDATA) == 0

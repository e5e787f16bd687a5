"""Checks of owner and mode: native code is run only where nobody but the user and root could have written it.

The rules are those of ssh for its own files: a file belongs to the user or to root, and neither its group nor others
may write it; the same holds for every folder above it, where a sticky one such as `/tmp` will do, as nobody can replace
another user's entries in it. A group that has the user's name and no further members is the user. Access control lists
are not looked at. On systems without user ids nothing is checked.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

_ROOT: Final = 0
_CHECKED: Final = hasattr(os, "geteuid")


def folder_fault(folder: Path) -> str | None:
    """Why somebody else may add or change files in a folder; `None` where nobody can.

    Links on the way to it are followed. `OSError` where a folder cannot be looked at.
    """
    return _chain_fault(Path(os.path.realpath(folder)), sticky_will_do=False) if _CHECKED else None


def file_fault(path: Path, status: os.stat_result) -> str | None:
    """Why somebody else may change the file that was opened from `path`; `None` where nobody can.

    `status` is that of the open file, so a file which is exchanged meanwhile does not matter.
    """
    if not _CHECKED:
        return None
    fault = _fault(path, status)
    return fault if fault is not None else _chain_fault(Path(os.path.realpath(path)).parent, sticky_will_do=True)


def _chain_fault(folder: Path, *, sticky_will_do: bool) -> str | None:
    """The first fault of a folder and those above it."""
    for each in (folder, *folder.parents):
        fault = _fault(each, each.stat(), sticky_will_do=sticky_will_do)
        if fault is not None:
            return fault
        sticky_will_do = True
    return None


def _fault(path: Path, status: os.stat_result, *, sticky_will_do: bool = False) -> str | None:
    user = os.geteuid()
    if status.st_uid not in (user, _ROOT):
        return f"'{path}' belongs to uid {status.st_uid}, you are uid {user}"
    sticky = sticky_will_do and bool(status.st_mode & stat.S_ISVTX)
    mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
    if status.st_mode & stat.S_IWOTH and not sticky:
        return f"'{path}' may be written by everyone ({mode})"
    if status.st_mode & stat.S_IWGRP and not sticky and not _is_private_group(status.st_gid, status.st_uid):
        return f"'{path}' may be written by the group of gid {status.st_gid} ({mode})"
    return None


def _is_private_group(gid: int, uid: int) -> bool:
    """Whether a group is that of one user alone: the user's first group, of the same name, without other members."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(uid), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and user.pw_name == group.gr_name and not set(group.gr_mem) - {user.pw_name}

"""Checks of owner and mode: native code runs only from files that no other user except root could have written.

The rules are those of ssh for its own files. A file must belong to the user or to root, and neither its group nor
others may write it. The same holds for every parent folder, except that a sticky one such as `/tmp` is allowed, as
users cannot replace others' entries in it. A group with the user's name and no other members counts as the user. Access
control lists are ignored. On systems without user ids nothing is checked.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

_ROOT: Final = 0
_CHECKED: Final = hasattr(os, "geteuid")


def folder_fault(folder: Path) -> str | None:
    """Returns the reason why another user may add or change files in a folder, or `None`.

    Links in the path are followed. Raises `OSError` if a folder is inaccessible.
    """
    return _chain_fault(Path(os.path.realpath(folder)), sticky_will_do=False) if _CHECKED else None


def file_fault(path: Path, status: os.stat_result) -> str | None:
    """Returns the reason why another user may change the file that was opened from `path`, or `None`.

    `status` is that of the open file, so replacing the file meanwhile has no effect.
    """
    if not _CHECKED:
        return None
    fault = _fault(path, status)
    return fault if fault is not None else _chain_fault(Path(os.path.realpath(path)).parent, sticky_will_do=True)


def _chain_fault(folder: Path, *, sticky_will_do: bool) -> str | None:
    """Returns the first fault of a folder and its parents."""
    for each in (folder, *folder.parents):
        fault = _fault(each, each.stat(), sticky_will_do=sticky_will_do)
        if fault is not None:
            return fault
        sticky_will_do = True
    return None


def _fault(path: Path, status: os.stat_result, *, sticky_will_do: bool = False) -> str | None:
    user = os.geteuid()
    if status.st_uid not in (user, _ROOT):
        return f"'{path}' is owned by uid {status.st_uid}, you are uid {user}"
    sticky = sticky_will_do and bool(status.st_mode & stat.S_ISVTX)
    mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
    if status.st_mode & stat.S_IWOTH and not sticky:
        return f"'{path}' is writable by everyone ({mode})"
    if status.st_mode & stat.S_IWGRP and not sticky and not _is_private_group(status.st_gid, status.st_uid):
        return f"'{path}' is writable by group {status.st_gid} ({mode})"
    return None


def _is_private_group(gid: int, uid: int) -> bool:
    """Whether a group belongs to one user alone: the user's first group, of the same name, without other members."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(uid), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and user.pw_name == group.gr_name and not set(group.gr_mem) - {user.pw_name}

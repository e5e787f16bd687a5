"""The report of tokens counts only code, and each file once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from meta.size_report import Size, commit, count_tokens, room_of, rooms, table, working_tree

SOURCE = b'''"""A file."""

import os  # a comment


LIMIT = 3
"""A constant."""


def area(side: int) -> str:
    """A function."""
    name = f"{side} by {side}"
    return (
        name
    )
'''


def test_comments_docstrings_and_layout_do_not_count() -> None:
    # import os; LIMIT = 3; def area(side: int) -> str:; name = "…"; return (name)
    assert count_tokens(SOURCE) == 2 + 3 + 10 + 3 + 4
    assert count_tokens(b"") == count_tokens(b"# none\n") == count_tokens(b'"""none"""') == 0


def test_a_string_of_an_expression_counts() -> None:
    assert count_tokens(b'x = "a"\nf("b")\n') == 3 + 4


@pytest.mark.parametrize(("depth", "room"), [(1, "passes"), (2, "passes/loop"), (9, "passes/loop/deep")])
def test_a_room_is_a_folder(depth: int, room: str) -> None:
    assert room_of("passes/loop/deep/split.py", depth) == room
    assert room_of("setup.py", depth) == "."


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_links_count_once_and_a_commit_is_compared(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("x = 1\n")
    (tmp_path / "tests" / "linked.py").symlink_to("test_a.py")
    (tmp_path / "src" / "tests").symlink_to("../tests")
    (tmp_path / "src" / "gone.py").write_text("y = 2\nz = 3\n")
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    (tmp_path / "src" / "gone.py").unlink()
    (tmp_path / "src" / "new.py").write_text("y = 2\n")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    (tmp_path / "ignored.py").write_text("y = 2\n")
    base = rooms(commit(tmp_path, "HEAD"), 2)
    now = rooms(working_tree(tmp_path), 2)
    assert base == {"src": Size(1, 6), "tests": Size(1, 3), "sum of sources": Size(1, 6), "sum of tests": Size(1, 3)}
    assert now == {"src": Size(1, 3), "tests": Size(1, 3), "sum of sources": Size(1, 3), "sum of tests": Size(1, 3)}
    assert table(now, base).splitlines()[1].split() == ["src", "1", "3", "1", "6", "-3"]

"""Every flag of every tool is used by a lit test, so that no broken flag goes unnoticed."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from functools import cache
from pathlib import Path

import pytest

from xrelay.tools.commands import all_commands
from xrelay.tools.opt.arguments import add_arguments

TESTS = Path(__file__).parents[1] / "lit" / "tools"
ALSO_COVERED = {"-h", "--help"}


def flags_of(parser: ArgumentParser) -> set[str]:
    """Returns the flags that `--help` shows."""
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", parser.format_usage())) - ALSO_COVERED


def all_flags() -> list[tuple[str, str]]:
    opt = ArgumentParser(prog="xrelay-opt")
    add_arguments(opt, "")
    found = [("xrelay-opt", flag) for flag in sorted(flags_of(opt))]
    for command in all_commands():
        parser = ArgumentParser(prog="tool")
        command.add_arguments(parser)
        found += [(f"xrelay {command.name}", flag) for flag in sorted(flags_of(parser))]
    return found


@cache
def run_lines() -> list[str]:
    lines: list[str] = []
    for path in sorted(TESTS.iterdir()):
        if path.suffix in (".mlir", ".test"):
            lines += [line for line in path.read_text().splitlines() if "RUN:" in line]
    return lines


@pytest.mark.parametrize(("tool", "flag"), all_flags())
def test_flag_is_used_in_a_lit_test(tool: str, flag: str) -> None:
    pattern = re.compile(rf"{tool}(?![\w-]).*\s{re.escape(flag)}(?![\w-])")
    assert any(pattern.search(line) for line in run_lines()), f"no test in tests/lit/tools runs {tool} … {flag}"

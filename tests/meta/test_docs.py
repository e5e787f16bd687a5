"""The documentation is correct: its Python runs, its programs parse, its commands print the shown output.

In docs/*.md, per file and in order: blocks that begin with `// NAME.mlir`, `# NAME.py` and so on become files.
Other ```python blocks run in one namespace and print the ```text block after them. Each `$ command` of ```console
blocks runs in the folder of those files and must print the lines below it. `pip install` installs a package of the page
for the commands after it. `PYTHONPATH=tests python tests/meta/test_docs.py` writes the outputs to the files.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest
from support.c_programs import needs_compiler
from support.out_of_tree import install
from support.tool_server.served import served

from xrelay.tools.commands import all_commands

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "NO_COLOR": "1"}
PAGES = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?://|#) (\S+\.(?:mlir|py|toml|c))\n")
"""The first line of a block that becomes a file."""
SITE = "site"
"""The folder in which `pip install` of a page installs packages."""
PIP_INSTALL = "pip install "


def write_model(folder: Path) -> None:
    """Writes `digits.onnx` by the script of the page on getting started, whose model other pages use."""
    page = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    (script,) = (text for _, text in FENCE.findall(page) if text.startswith("# make_digits.py"))
    with chdir(folder):
        exec(compile(script, "make_digits.py", "exec"), {})


def run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Returns the output of a command, including errors."""
    if command.startswith(PIP_INSTALL):
        install(folder / command.removeprefix(PIP_INSTALL), folder / SITE)
        return ""
    own = {**environment, "XRELAY_CACHE_DIR": str(folder / "cache")}
    if (folder / SITE).exists():
        own["PYTHONPATH"] = str(folder / SITE)
    done = subprocess.run(
        command, shell=True, cwd=folder, env=own, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout


def sessions(block: str) -> Iterator[tuple[str, str]]:
    """Yields the commands of a console block, each with its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def as_printed(block: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Returns a console block with the current output of its commands."""
    results = ((command, run(command, folder, environment).rstrip("\n")) for command, _ in sessions(block))
    return "".join(f"$ {command}\n{output}\n" if output else f"$ {command}\n" for command, output in results)


def play(page: Path, folder: Path, environment: Mapping[str, str]) -> str:
    """Runs a page; returns its text with the outputs of this run."""
    write_model(folder)
    namespace: dict[str, object] = {}
    printed = io.StringIO()

    def block(match: re.Match[str]) -> str:
        nonlocal printed
        language, text = match.groups()
        before, printed = printed.getvalue(), io.StringIO()
        if (name := FILE.match(text)) is not None:
            path = folder / name[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.partition("\n")[2], encoding="utf-8")
        elif language == "python":
            with redirect_stdout(printed):
                exec(compile(text, f"{page.name}, python", "exec"), namespace)
        elif language == "text" and before:
            return f"```text\n{before}```"
        elif language == "console":
            return f"```console\n{as_printed(text, folder, environment)}```"
        return match[0]

    with chdir(folder):
        return FENCE.sub(block, page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Yields the environment of the commands of the pages."""
    with served(ENVIRONMENT) as environment:
        yield environment


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_tells_the_truth(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    assert play(page, tmp_path, environment) == page.read_text(encoding="utf-8")


@needs_compiler
def test_the_programs_in_c_run(tmp_path: Path, environment: dict[str, str]) -> None:
    page = ROOT / "docs" / "embed.md"
    play(page, tmp_path, environment)
    commands = [text for language, text in FENCE.findall(page.read_text(encoding="utf-8")) if language == "sh"]
    outputs = [run(command, tmp_path, environment) for command in commands]
    assert outputs == ["status 0, first score 0.10\n", "status 0, 3 rows of scores\n"]


def shown_commands() -> list[str]:
    """Returns the commands `xrelay …` of blocks that do not run, because they take long or need a model of the user."""
    texts = [page.read_text(encoding="utf-8") for page in (*PAGES, ROOT / "README.md")]
    blocks = [text for page in texts for language, text in FENCE.findall(page) if language in ("bash", "sh")]
    return sorted({line for text in blocks for line in text.splitlines() if line.startswith("xrelay ")})


@pytest.mark.parametrize("line", shown_commands())
def test_a_command_that_is_shown_has_these_options(line: str) -> None:
    _, name, *arguments = shlex.split(line, comments=True)
    (command,) = (command for command in all_commands() if command.name == name)
    parser = ArgumentParser(prog=f"xrelay {name}")
    command.add_arguments(parser)
    parser.parse_args(arguments)


STABLE = re.search(r"\*\*Stable:\*\*.*?;", (ROOT / "docs" / "extending.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_a_page_imports_stable_names(page: Path) -> None:
    """The page on extending lists the modules whose names are stable."""
    assert STABLE is not None
    stable = set(re.findall(r"`(xrelay[\w.]*?)(?:\.\*)?`", STABLE[0]))
    blocks = [text for language, text in FENCE.findall(page.read_text(encoding="utf-8")) if language == "python"]
    imported = re.findall(r"^ *(?:from|import) (xrelay[\w.]*)", "".join(blocks), re.MULTILINE)
    private = {name for name in imported if not {".".join(name.split(".")[:2]), name} & stable}
    assert private == set()


if __name__ == "__main__":
    for each in PAGES:
        with tempfile.TemporaryDirectory() as scratch, served(ENVIRONMENT) as variables:
            each.write_text(play(each, Path(scratch), variables), encoding="utf-8")

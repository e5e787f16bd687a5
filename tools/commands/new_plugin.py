"""`xrelay new-plugin`."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from string import Template
from typing import ClassVar, Final

from xrelay.tools.commands.base import Command, UsageError

TEMPLATE: Final = Path(__file__).parents[1] / "plugin_template"
"""The folder of the files, in which `$name` and `$package` are replaced and `package` is the name of a folder."""
SUFFIX: Final = ".in"


class NewPluginCommand(Command):
    """Write the files of a package that adds an operator and a pass to xrelay.

    The package has an operator in a dialect of its own, its ONNX converter, a pass that the compiler runs, and tests.
    NAME is the name of the package, such as acme-ops. The files are written to the folder NAME, which must not exist.
    """

    name: ClassVar[str] = "new-plugin"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the name and the output."""
        parser.add_argument("package", metavar="NAME", help="name: lower-case words with hyphens, such as acme-ops")
        parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder to create (default: NAME)")

    def run(self, args: Namespace) -> int:
        """Writes the files."""
        name: str = args.package
        package = checked_package(name)
        folder: Path = args.output if args.output is not None else Path(name)
        if folder.exists():
            raise UsageError(f"{folder} exists already", help="pass another folder with -o")
        for source in sorted(TEMPLATE.rglob(f"*{SUFFIX}")):
            place = source.relative_to(TEMPLATE).with_suffix("")
            target = folder.joinpath(*(package if part == "package" else part for part in place.parts))
            target.parent.mkdir(parents=True, exist_ok=True)
            text = Template(source.read_text(encoding="utf-8")).substitute(name=name, package=package)
            target.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {folder}: install it with `pip install -e {folder}`, test it with `pytest {folder}`\n")
        return 0


def checked_package(name: str) -> str:
    """Returns the import name of a package, which is also that of its dialect.

    Raises `UsageError` for a name of another form, and for the name of a dialect of xrelay or xDSL.
    """
    from xdsl.dialects import get_all_dialects

    from xrelay.dialects import ALL_DIALECTS

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(f"{name!r} is not a name of a package", help="write lower-case words with hyphens: acme-ops")
    package = name.replace("-", "_")
    if package in {"xrelay", *ALL_DIALECTS, *get_all_dialects()}:
        raise UsageError(f"{name!r} is the name of a dialect", help="prefix it with your name: acme-" + name)
    return package

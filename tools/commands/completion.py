"""`xrelay completion`."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, HelpFormatter, Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from xrelay.tools.commands.base import Command

_BASH: Final = """\
_xrelay() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} flags=""
  if [[ ${{COMP_WORDS[0]##*/}} == xrelay-opt ]]; then
    flags="{opt}"
  elif (( COMP_CWORD == 1 )); then
    flags="{commands}"
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
  fi
  if [[ $word == -* || ( $COMP_CWORD == 1 && ${{COMP_WORDS[0]##*/}} == xrelay ) ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  fi
}}
complete -o default -F _xrelay xrelay xrelay-opt
"""
_ZSH: Final = "autoload -Uz bashcompinit && bashcompinit\n"


class CompletionCommand(Command):
    """Print a script that completes commands and flags in a shell.

    For bash: eval "$(xrelay completion bash)", for zsh: eval "$(xrelay completion zsh)", for fish:
    xrelay completion fish | source; in the file that the shell reads when it starts. File names are completed as usual.
    """

    name: ClassVar[str] = "completion"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the shell."""
        parser.add_argument("shell", choices=tuple(_SHELLS), help="the shell")

    def run(self, args: Namespace) -> int:
        """Prints the script."""
        from xrelay.tools.commands import all_commands
        from xrelay.tools.opt.arguments import add_arguments

        flags: dict[str, Sequence[str]] = {}
        for command in all_commands():
            parser = ArgumentParser()
            command.add_arguments(parser)
            flags[command.name] = _flags(parser)
        opt = ArgumentParser()
        add_arguments(opt, "")
        sys.stdout.write(_SHELLS[args.shell](flags, _flags(opt)))
        return 0


def _flags(parser: ArgumentParser) -> list[str]:
    """Returns the flags that a parser declares, in the order of its help."""
    # A line of this width has the flags of one option, two blanks, and their help.
    parser.formatter_class = partial(HelpFormatter, width=10_000)
    options = re.findall(r"^  (-.*?)(?:  |$)", parser.format_help(), re.MULTILINE)
    return [flag for option in options for flag in re.findall(r"(?<!\S)--?[\w-]+", option)]


def _bash(commands: Mapping[str, Sequence[str]], opt: Sequence[str]) -> str:
    cases = "\n".join(f'      {name}) flags="{" ".join(flags)}" ;;' for name, flags in commands.items())
    return _BASH.format(opt=" ".join(opt), commands=" ".join(commands), cases=cases)


def _zsh(commands: Mapping[str, Sequence[str]], opt: Sequence[str]) -> str:
    return _ZSH + _bash(commands, opt)


def _fish(commands: Mapping[str, Sequence[str]], opt: Sequence[str]) -> str:
    lines = [f"complete -c xrelay -n __fish_use_subcommand -a {name}" for name in commands]
    for name, flags in commands.items():
        where = f"complete -c xrelay -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{where} {_fish_flag(flag)}" for flag in flags]
    lines += [f"complete -c xrelay-opt {_fish_flag(flag)}" for flag in opt]
    return "".join(f"{line}\n" for line in lines)


def _fish_flag(flag: str) -> str:
    name = flag.lstrip("-")
    return f"-l {name}" if flag.startswith("--") else f"-s {name}" if len(name) == 1 else f"-o {name}"


_SHELLS: Final[Mapping[str, Callable[[Mapping[str, Sequence[str]], Sequence[str]], str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}

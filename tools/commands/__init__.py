"""The subcommands of `xrelay`, one module each."""

from __future__ import annotations

from xrelay.tools.commands.base import Command
from xrelay.tools.commands.bench import BenchCommand
from xrelay.tools.commands.compare import CompareCommand
from xrelay.tools.commands.compile import CompileCommand
from xrelay.tools.commands.completion import CompletionCommand
from xrelay.tools.commands.explain import ExplainCommand
from xrelay.tools.commands.explore import ExploreCommand
from xrelay.tools.commands.import_ import ImportCommand
from xrelay.tools.commands.inspect import InspectCommand
from xrelay.tools.commands.new_plugin import NewPluginCommand
from xrelay.tools.commands.profile import ProfileCommand
from xrelay.tools.commands.quantize import QuantizeCommand
from xrelay.tools.commands.reduce import ReduceCommand
from xrelay.tools.commands.run import RunCommand
from xrelay.tools.commands.tune import TuneCommand


def all_commands() -> list[Command]:
    """Returns an instance of each command, in the order of `xrelay --help`."""
    return [
        ImportCommand(),
        QuantizeCommand(),
        CompileCommand(),
        RunCommand(),
        BenchCommand(),
        ProfileCommand(),
        CompareCommand(),
        ReduceCommand(),
        TuneCommand(),
        InspectCommand(),
        ExplainCommand(),
        NewPluginCommand(),
        ExploreCommand(),
        CompletionCommand(),
    ]

"""The command-line tools: `xrelay-opt`, `xrelay` and its subcommands, the demo."""

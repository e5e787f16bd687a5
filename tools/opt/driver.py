"""The driver of `xrelay-opt`: reads, verifies, runs passes, prints; every failure ends as one line on stderr."""

from __future__ import annotations

import json
import os
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.xdsl_opt_main import xDSLOptMain

from xrelay import __version__, environment
from xrelay.dialects import with_replaced
from xrelay.errors import ParseError, PassError, XRelayError
from xrelay.passes.infra.instruments import Instrument, PrintIR, SaveIR, TimedVerify, Timing
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.source import decode_text, one_line, parse_module, read_text
from xrelay.passes.infra.verify import verification_errors
from xrelay.tools.opt.arguments import add_arguments
from xrelay.tools.opt.catalogue import print_catalogue
from xrelay.tools.opt.chunks import Chunk, split_chunks
from xrelay.tools.opt.excerpts import excerpt
from xrelay.tools.opt.expectations import find_expectations, mismatches
from xrelay.tools.opt.pass_flags import own_name, pass_instruments, plan_pipeline
from xrelay.tools.opt.side_files import bring_weights, keep_weights
from xrelay.tools.opt.targets import llvm_ir_target

_Error = TypeVar("_Error", bound=XRelayError)

INTERRUPTED = 130
"""The exit code of what Ctrl-C ended, as shells have it."""
MAX_ERRORS = 20
"""Errors of one piece of input that are reported."""


class XRelayOptMain(xDSLOptMain):
    """xDSL's driver with the project's dialects, passes and targets, and with errors a user can read."""

    def __init__(self, args: Sequence[str] | None = None):
        super().__init__("Run passes on programs at any level of xrelay.", args)
        self.timing = Timing()
        self._verify_each = True
        self._sources: dict[str, str] = {}

    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        """Declare the command line."""
        arg_parser.prog = "xrelay-opt"
        add_arguments(arg_parser, f"xrelay-opt {__version__}")

    def register_all_dialects(self) -> None:
        """Register xDSL's dialects, ours and those of plugins; arith, func and llvm in the extended form."""
        for name, thunk in with_replaced(Universe.get_multiverse().all_dialects).items():
            self.ctx.register_dialect(name, thunk)

    def register_all_targets(self) -> None:
        """Add LLVM IR text to xDSL's outputs."""
        super().register_all_targets()
        self.available_targets["llvm-ir"] = llvm_ir_target

    def setup_pipeline(self) -> None:
        """The pipeline is read when the tool runs, where its errors are handled."""

    def execute(self) -> int:
        """Do what the command line says; gives the exit code."""
        try:
            if print_catalogue(self.args, self.available_passes, self.ctx):
                return 0
            plan = plan_pipeline(self.args, self.available_passes)
            if self.args.print_pipeline:
                sys.stdout.write(plan.render())
                return 0
            passes = plan.running
            self._check_dump_names(passes)
            self._verify_each = plan.verify_each
            self.timing = Timing(plan.groups)
        except (PassError, ParseError) as error:
            self._report(error)
            return 2
        try:
            return self._run_chunks(passes)
        except KeyboardInterrupt:
            sys.stderr.write("xrelay-opt: interrupted\n")
            return INTERRUPTED
        except XRelayError as error:
            self._report(error)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1

    def _run_chunks(self, passes: Sequence[ModulePass]) -> int:
        """Process every piece of the input and write what comes out."""
        chunks = self._read_chunks()
        expectations = [find_expectations(chunk) for chunk in chunks] if self.args.verify_diagnostics else []
        matching = any(expectations)
        status = 0
        outputs: list[str] = []
        for number, chunk in enumerate(chunks):
            text, errors = self._process(chunk, passes)
            outputs.append(text)
            if matching:
                problems = mismatches(chunk, expectations[number], errors)
                sys.stderr.writelines(problem + "\n" for problem in problems)
                status = max(status, int(bool(problems)))
            elif self.args.verify_diagnostics:
                outputs[-1] += "".join(error.render() + "\n" for error in errors)
            else:
                for error in errors:
                    self._report(error)
                status = max(status, int(bool(errors)))
        if status == 0 or self.args.output_file is None:
            self._write("// -----\n".join(outputs))
        if self.args.timing or self.args.timing_file is not None:
            self._write_timing()
        return status

    def _read_chunks(self) -> list[Chunk]:
        """The pieces of the input file, or of standard input."""
        name: str | None = self.args.input_file
        if name is None or name == "-":
            name = "<stdin>"
            text = decode_text(sys.stdin.buffer.read(), name)
        else:
            text = read_text(Path(name))
        self._sources[name] = text
        return split_chunks(text, name, split=self.args.split_input_file)

    def _process(self, chunk: Chunk, passes: Sequence[ModulePass]) -> tuple[str, list[XRelayError]]:
        """What one piece becomes, and the errors met on the way."""
        try:
            with self.timing.tree.step("parse"):
                module = self._parse(chunk)
            if not self.args.disable_verify:
                with self.timing.tree.step("verify"):
                    errors = list(islice(verification_errors(module), MAX_ERRORS))
                if errors:
                    return "", [_placed(error, chunk) for error in errors]
            run_pipeline(module, passes, context=self.ctx, instruments=self._instruments(chunk))
            if self.args.output_file is not None:
                keep_weights(module, Path(self.args.output_file))
            with self.timing.tree.step("print"):
                return self._emit(module), []
        except XRelayError as error:
            return "", [_placed(error, chunk)]

    def _parse(self, chunk: Chunk) -> ModuleOp:
        module = parse_module(
            self.ctx,
            chunk.text,
            chunk.name,
            line_offset=chunk.line_offset,
            implicit_module=not self.args.no_implicit_module,
        )
        bring_weights(module, chunk)
        return module

    def _emit(self, module: ModuleOp) -> str:
        """The program in the form of the target."""
        try:
            return self.output_resulting_program(module).rstrip("\n") + "\n"
        except XRelayError:
            raise
        except RecursionError as error:
            raise PassError("the program is nested too deeply to be printed", help="split the function") from error
        except Exception as error:
            message = one_line(str(error))
            raise PassError(f"target {self.args.target} failed, {type(error).__name__}: {message}") from error

    def _instruments(self, chunk: Chunk) -> list[Instrument]:
        """What the flags ask for; the clock encloses nothing but the pass itself."""
        args = self.args
        found: list[Instrument] = []
        before, after = args.print_ir_before or args.print_ir_before_all, args.print_ir_after or args.print_ir_after_all
        if before or after or args.print_ir_after_failure:
            found.append(
                PrintIR(
                    sys.stderr,
                    before_passes=None if args.print_ir_before_all else _names(args.print_ir_before),
                    after_passes=None if args.print_ir_after_all else _names(args.print_ir_after),
                    on_failure=args.print_ir_after_failure,
                )
            )
        if args.print_ir_after_change or args.print_ir_diff:
            found.append(PrintIR(sys.stderr, on_change=args.print_ir_after_change, diff=args.print_ir_diff))
        if args.dump_stages is not None:
            part = f"line{chunk.line_offset + 1}" if args.split_input_file else ""
            found.append(SaveIR(Path(args.dump_stages) / part))
        found += pass_instruments(args)
        if self._verify_each and not (args.disable_verify or args.no_verify_each):
            found.append(TimedVerify(self.timing))
        return [*found, self.timing]

    def _check_dump_names(self, passes: Sequence[ModulePass]) -> None:
        """A pass named by a printing flag must be one of the pipeline, or the flag would silently do nothing."""
        running = [current.name for current in passes]
        for name in (*(self.args.print_ir_before or ()), *(self.args.print_ir_after or ())):
            if name and own_name(name) not in running:
                raise PassError(f"{name!r} is not in the pipeline", help=f"it runs {', '.join(running) or 'no passes'}")

    def _write(self, text: str) -> None:
        """Write the product."""
        if self.args.output_file is None:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            _write_file(self.args.output_file, text)

    def _write_timing(self) -> None:
        """Write what each step took."""
        as_json = self.args.timing_format == "json"
        text = json.dumps(self.timing.tree.root.as_data()) + "\n" if as_json else self.timing.report()
        if self.args.timing_file is None:
            sys.stderr.write(text)
        else:
            _write_file(self.args.timing_file, text)

    def _report(self, error: XRelayError) -> None:
        """Tell the user."""
        if self.args.debug or environment.debug():
            traceback.print_exception(error)
        for line in (error.render(), *error.notes()):
            sys.stderr.writelines(text + "\n" for text in (line, *excerpt(line, self._sources)))


def _placed(error: _Error, chunk: Chunk) -> _Error:
    """The error, in the piece of the file where it knows no better place."""
    if error.location is None:
        error.location = chunk.name
    return error


def _write_file(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise XRelayError(f"cannot write the file: {error.strerror}", location=path) from error


def _names(values: list[str] | None) -> frozenset[str] | None:
    """The passes that a repeatable flag names; None stands for all."""
    if values is None:
        return frozenset()
    return None if "" in values else frozenset(map(own_name, values))

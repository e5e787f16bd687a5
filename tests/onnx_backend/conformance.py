"""`make conformance`: counts the official onnx cases that run natively, by tier and by op, with reasons for the others.

A case belongs to the op that it tests, also if the op is expanded to the nodes of its definition. It is compiled as it
is, and again with its settings (a shape, axes, bounds) as constants if they are inputs of the model. The table has
three kinds: *constant* cases have no settings as inputs, *given* cases have some, and *open* cases have extents that
depend on run-time values, or control flow. The tiers, in `sets/`, are those of onnx 1.23. A case of tier 4 may be
rejected: it counts if it is correct or rejected with a reason.

With `NAMED=1` every extent of an input is a name and settings are constants: rejected cases then need static extents.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import onnx
from support.onnx_network_cases import network_cases
from support.onnx_node_cases import NodeCase, flat, official_cases, settings, with_constant_settings, with_named_extents

from xrelay.api.comparison import compare_outputs
from xrelay.api.compile import compile
from xrelay.errors import XRelayError

SETS = Path(__file__).with_name("sets")
EXPANDED = re.compile(r"_expanded(_ver\d+)?$")
OPEN = frozenset({"Compress", "If", "Loop", "NonMaxSuppression", "NonZero", "Scan", "SequenceMap", "Unique"})
"""Ops with result extents known only at run time, and ops with bodies."""

KINDS = ("constant", "given", "open")
TIERS = ("tier1", "tier2", "tier3", "tier4")
MAY_REFUSE = "tier4"

PASSED, REFUSED = "", "refused"
WIDTH = 150
"""The maximum number of characters of a printed reason."""


@dataclass(frozen=True)
class Verdict:
    """The result of a case: why it does not run as it is and with constant settings; empty if it runs."""

    name: str
    kind: str
    alone: str
    fixed: str


def case_set(name: str) -> list[str]:
    """The names of the cases in a file of `sets/`."""
    lines = (SETS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def cases_by_name() -> dict[str, NodeCase]:
    """All official cases, including whole networks."""
    return {case.name: case for case in (*official_cases(), *network_cases())}


def op_of(case: NodeCase) -> str:
    """The op that a case tests: that of its single node, or of the case whose expansion it is."""
    original = cases_by_name().get(EXPANDED.sub("", case.name), case)
    nodes = original.model.graph.node
    return nodes[0].op_type if len(nodes) == 1 else "(several)"


def kind_of(case: NodeCase) -> str:
    """One of `KINDS`."""
    if any(node.op_type in OPEN for node in all_nodes(case.model.graph)):
        return "open"
    return "given" if settings(case) else "constant"


def all_nodes(graph: onnx.GraphProto) -> Iterable[onnx.NodeProto]:
    """The nodes of a graph and of its subgraphs."""
    pending = [graph]
    while pending:
        for node in pending.pop().node:
            yield node
            pending += [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def failure(case: NodeCase) -> str:
    """Why the native results of a case differ from onnx's; empty if they agree."""
    try:
        found = flat(compile(case.model, cache=False, threads=1).run(case.inputs))
        comparison = compare_outputs(
            case.output_names, found, case.outputs, levels=("native", "onnx"), rtol=case.allowed, atol=case.atol
        )
    except XRelayError as error:
        return f"{REFUSED}: {error.message}"
    except Exception as error:  # an error of one case must not end the table
        return f"FAILED: {type(error).__name__}: {error}"
    return PASSED if comparison else f"WRONG: {comparison}"


def judge(name: str) -> Verdict:
    """Compiles and runs one case."""
    case = cases_by_name()[name]
    alone = failure(case)
    return Verdict(name, kind_of(case), alone, failure(with_constant_settings(case)) if settings(case) else alone)


def judge_named(name: str) -> Verdict:
    """Compiles one case for inputs of any extents, and runs it."""
    case = cases_by_name()[name]
    found = failure(with_named_extents(case))
    return Verdict(name, kind_of(case), found, found)


def judge_all(names: Sequence[str], jobs: int, judge: Callable[[str], Verdict] = judge) -> list[Verdict]:
    """All verdicts, in the order of the names; the workers inherit the collected cases from this process."""
    cases_by_name()
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        return list(pool.map(judge, names, chunksize=4))


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """A line per op and one for all: cases, those that run as they are, and per kind those with constant settings."""
    by_op: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_op[op_of(cases_by_name()[verdict.name])].append(verdict)
    heads = ("op", "cases", "as they are", *(f"{kind}" for kind in KINDS))
    return _aligned([heads, *(_row(op, by_op[op]) for op in sorted(by_op)), _row("all", verdicts)])


def tier_table(verdicts: Sequence[Verdict]) -> list[str]:
    """A line per tier with cases among `verdicts`: all its cases, those judged, and their outcomes.

    The last number is the tier's count: cases that run as they are, and in tier 4 also those that are rejected.
    """
    rows: list[tuple[str, ...]] = [("tier", "cases", "judged", "as they are", "refused", "wrong", "count")]
    for tier in TIERS:
        names = set(case_set(tier))
        alone = [verdict.alone for verdict in verdicts if verdict.name in names]
        passed, refused = alone.count(PASSED), sum(each.startswith(REFUSED) for each in alone)
        counted = passed + refused * (tier == MAY_REFUSE)
        if alone:
            numbers = (len(names), len(alone), passed, refused, len(alone) - passed - refused, counted)
            rows.append((tier, *map(str, numbers)))
    return _aligned(rows)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _row(op: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    counts = (
        (sum(v.fixed == PASSED for v in verdicts if v.kind == kind), sum(v.kind == kind for v in verdicts))
        for kind in KINDS
    )
    alone = sum(verdict.alone == PASSED for verdict in verdicts)
    return (op, str(len(verdicts)), str(alone), *(f"{passed}/{all}" if all else "–" for passed, all in counts))


def reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """The reasons why cases with constant settings do not run, by op."""
    counts: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        if verdict.fixed != PASSED:
            counts[op_of(cases_by_name()[verdict.name]), _without_names(verdict.fixed)] += 1
    return [f"{op}: {count} {reason}" for (op, reason), count in sorted(counts.items())]


def _without_names(reason: str) -> str:
    """A reason in one line, without the names of nodes, so that equal reasons are counted together."""
    line = re.sub(r"node '[^']*' |\d+ nodes? (is|are) not supported: ", "", reason.splitlines()[0])
    return line if len(line) <= WIDTH else line[:WIDTH] + "…"


def main() -> int:
    """Prints the tables and the reasons; fails if a case is neither correct nor rejected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=sorted(file.stem for file in SETS.glob("*.txt")), help="these cases alone")
    parser.add_argument("--op", help="the cases of this op alone, each with its verdict")
    parser.add_argument("--named", action="store_true", help="every extent of an input is a name")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    args = parser.parse_args()
    names = case_set(args.set) if args.set else list(cases_by_name())
    names = [name for name in names if name in cases_by_name()]
    if args.op:
        names = [name for name in names if op_of(cases_by_name()[name]) == args.op]
    verdicts = judge_all(names, args.jobs, judge_named if args.named else judge)
    if args.op:
        lines = [f"{v.name}  {v.kind}  {_without_names(v.fixed) if v.fixed else 'runs'}" for v in verdicts]
        sys.stdout.write("\n".join(lines) + "\n\n")
    sys.stdout.write("\n".join((*table(verdicts), "", *tier_table(verdicts), "", *reasons(verdicts))) + "\n")
    return int(any(each != PASSED and not each.startswith(REFUSED) for v in verdicts for each in (v.alone, v.fixed)))


if __name__ == "__main__":
    sys.exit(main())

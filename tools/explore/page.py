"""Writes the page: the recorded compilation as compressed JSON, with the style and the scripts that draw it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from xrelay.api.profiling.data import GIGA, ProfileData
from xrelay.lowering.topi_to_loop.explain_schedules import ExplainedSchedule
from xrelay.passes.fusion.explain import ExplainedBlock
from xrelay.passes.fusion.explain_text import story_lines
from xrelay.passes.graph.remarks import Remark
from xrelay.runtime.roofline import SIZES
from xrelay.tools.comparison.divergence import ValueRow
from xrelay.tools.explore.arena_plan import ArenaPlan
from xrelay.tools.explore.fused_graph import FusedGraph, GraphNode
from xrelay.tools.explore.linked_text import Level
from xrelay.tools.explore.recording import PassRun
from xrelay.tools.explore.timed_calls import TimedCall, timed_calls

_FILES: Final = Path(__file__).parent / "page_files"
_LINE: Final = re.compile(r":(\d+):\d+$")
_SCRIPTS: Final = ("selection.js", "graph.js", "levels.js", "details.js", "charts.js", "main.js")

Data = dict[str, object]


class NodeNames:
    """The names of nodes in the order in which they were first used; the page refers to them by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, names: Iterable[str]) -> list[int]:
        """Returns the numbers of names."""
        return [self._numbers.setdefault(name, len(self._numbers)) for name in names]

    def all(self) -> list[str]:
        """Returns all names."""
        return list(self._numbers)


@dataclass(frozen=True)
class PageContent:
    """The contents of a page; `absent` has the reason for each tab that is empty."""

    title: str
    summary: str
    levels: Sequence[Level]
    graph: FusedGraph
    plan: ArenaPlan = field(default_factory=ArenaPlan)
    fusion: Sequence[ExplainedBlock] = ()
    schedules: Sequence[ExplainedSchedule] = ()
    remarks: Sequence[Remark] = ()
    passes: Sequence[PassRun] = ()
    profile: ProfileData | None = None
    values: Sequence[tuple[str, ValueRow]] = ()
    """Nodes, and their values compared with a reference."""
    absent: Mapping[str, str] = field(default_factory=dict[str, str])
    """For each tab without contents, the reason."""


def page_data(content: PageContent) -> Data:
    """Returns the contents of the page as JSON."""
    names, profile = NodeNames(), content.profile
    times = {} if profile is None else timed_calls(profile, content.graph)
    return {
        "title": content.title,
        "summary": content.summary,
        "levels": [_level(level, names) for level in content.levels],
        "graph": _graph(content.graph, names, times),
        "memory": _memory(content.plan, names),
        "fusion": fusion_stories(content.fusion),
        "rewrites": remarks_by_node(content.remarks),
        "schedules": {each.kernel: each.as_data() for each in content.schedules},
        "passes": [_pass(run) for run in content.passes],
        "profile": None if profile is None else _profile(profile),
        "values": [
            {**row.as_data(), "largest": row.largest, "ids": names.numbers([node])} for node, row in content.values
        ],
        "absent": content.absent,
        "names": names.all(),
    }


def _profile(profile: ProfileData) -> Data:
    roofline = profile.roofline
    return {
        "seconds": profile.seconds,
        "threads": profile.threads,
        "peak": roofline.operations / GIGA,
        "bandwidths": [[size, speed / GIGA] for size, speed in zip(SIZES, roofline.bandwidths, strict=True)],
    }


def remarks_by_node(remarks: Iterable[Remark]) -> dict[str, list[str]]:
    """Returns the remarks of passes by the nodes of the model."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for remark in remarks:
        if remark.location is not None:
            line = _LINE.search(remark.location)
            node = remark.location if line is None else f"line {line[1]}"
            found[node][f"{remark.pass_name}: {remark.op_name.removeprefix('relay.')}: {remark.message}"] = None
    return {node: list(texts) for node, texts in found.items()}


def _level(level: Level, names: NodeNames) -> Data:
    return {
        "name": level.name,
        "title": level.title,
        "text": level.text,
        "spans": [[span.first, span.last, names.numbers(span.nodes)] for span in level.spans],
        "nodes": {line: names.numbers(nodes) for line, nodes in level.nodes.items()},
    }


def _graph(graph: FusedGraph, names: NodeNames, times: Mapping[int, TimedCall]) -> Data:
    nodes = [_node(node, names, times.get(number)) for number, node in enumerate(graph.nodes)]
    return {"nodes": nodes, "edges": graph.edges}


def _node(node: GraphNode, names: NodeNames, time: TimedCall | None) -> Data:
    own: Data = {"kind": node.kind, "name": node.name, "nodes": names.numbers(node.nodes), "ops": node.ops}
    return own if time is None else {**own, **asdict(time)}


def _memory(plan: ArenaPlan, names: NodeNames) -> Data:
    return {
        "calls": [names.numbers(nodes) for nodes in plan.calls],
        "buffers": [asdict(buffer) for buffer in plan.buffers],
        "dynamic": plan.dynamic,
        "sizes": dict(plan.sizes),
    }


def _pass(run: PassRun) -> Data:
    changed = None if run.diff is None else sum(line.startswith(("+", "-")) for line in run.diff.split("\n"))
    return {**asdict(run), "changed": changed}


def fusion_stories(blocks: Iterable[ExplainedBlock]) -> dict[str, list[str]]:
    """Returns the explanations of ops by the nodes of the model, and by kernels as `@name`."""
    stories: defaultdict[str, list[str]] = defaultdict(list)
    for block in blocks:
        for node, op in block.ops.items():
            story = "\n".join(story_lines(block, op))
            group = block.group_of.get(node)
            for name in op.locations or (() if group is None else (f"@{group.name}",)):
                stories[name].append(story)
    return stories


def page_text(content: PageContent, *, is_served: bool = False) -> str:
    """Returns the page. A served page reloads itself when its version changes.

    The JSON is compressed and in base64, so no text of a model is read as HTML.
    """
    scripts = (*_SCRIPTS, "served.js") if is_served else _SCRIPTS
    packed = gzip.compress(json.dumps(page_data(content), separators=(",", ":")).encode(), mtime=0)
    parts = {
        "title": html.escape(content.title),
        "style": (_FILES / "page.css").read_text(encoding="utf-8"),
        "dagre": (_FILES / "dagre.min.js").read_text(encoding="utf-8"),
        "script": "\n".join((_FILES / name).read_text(encoding="utf-8") for name in scripts),
        "data": base64.b64encode(packed).decode("ascii"),
    }
    head, *pieces = (_FILES / "page.html").read_text(encoding="utf-8").split("{{")
    return head + "".join(parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces))

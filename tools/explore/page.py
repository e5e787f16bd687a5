"""Writes the page: the recorded compilation as compressed JSON, with the style and the scripts that draw it."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from xrelay.api.profile_data import ProfileData
from xrelay.passes.fusion.explain import ExplainedBlock
from xrelay.passes.fusion.explain_text import story_lines
from xrelay.tools.explore.arena_plan import ArenaPlan
from xrelay.tools.explore.fused_graph import FusedGraph, GraphNode
from xrelay.tools.explore.linked_text import Level
from xrelay.tools.explore.recording import PassRecorder, PassRun, StageRecorder
from xrelay.tools.explore.timed_calls import TimedCall, timed_calls

_FILES: Final = Path(__file__).parent / "page_files"
_SCRIPTS: Final = ("selection.js", "graph.js", "levels.js", "details.js", "main.js")

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


def page_data(
    title: str, summary: str, stages: StageRecorder, passes: PassRecorder, profile: ProfileData | None = None
) -> Data:
    """Returns what the page shows: the stages and passes of a compilation, and the times of a run."""
    names = NodeNames()
    return {
        "title": title,
        "summary": summary,
        "levels": [_level(level, names) for level in stages.levels],
        "graph": _graph(stages.graph, names, {} if profile is None else timed_calls(profile, stages.graph)),
        "memory": _memory(stages.plan, names),
        "fusion": fusion_stories(passes.fusion),
        "schedules": {each.kernel: each.as_data() for each in passes.schedules},
        "passes": [_pass(run) for run in passes.passes],
        "profile": None if profile is None else {"seconds": profile.seconds, "threads": profile.threads},
        "names": names.all(),
    }


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


def page_text(data: Data, title: str) -> str:
    """Returns the page. The JSON is compressed and in base64, so no text of a model is read as HTML."""
    packed = gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0)
    parts = {
        "title": html.escape(title),
        "style": (_FILES / "page.css").read_text(encoding="utf-8"),
        "dagre": (_FILES / "dagre.min.js").read_text(encoding="utf-8"),
        "script": "\n".join((_FILES / name).read_text(encoding="utf-8") for name in _SCRIPTS),
        "data": base64.b64encode(packed).decode("ascii"),
    }
    head, *pieces = (_FILES / "page.html").read_text(encoding="utf-8").split("{{")
    return head + "".join(parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces))

"""A profile as a trace in Chrome's JSON format: a track per thread, with the calls of kernels and their parts."""

from __future__ import annotations

import json

from xrelay.api.profiling.data import ProfileData
from xrelay.runtime.call_tracer import TracedCall

_PROCESS = 1


def trace_text(profile: ProfileData) -> str:
    """Returns the trace; times are in microseconds since the start of the run."""
    run = next((call.thread for call in profile.calls if not call.is_part), 0)
    threads = {run: 0}
    for call in profile.calls:
        threads.setdefault(call.thread, len(threads))
    names = ["run" if number == 0 else f"worker {number}" for number in threads.values()]
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "thread_name", "pid": _PROCESS, "tid": number, "args": {"name": name}}
        for number, name in enumerate(names)
    ]
    events += [_event(profile, call, threads[call.thread]) for call in profile.calls]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def _event(profile: ProfileData, call: TracedCall, thread: int) -> dict[str, object]:
    kernel = profile.kernels[call.kernel]
    details: dict[str, object] = {"sources": list(kernel.sources), "schedule": kernel.schedule}
    if call.extents:
        details["extents"] = list(call.extents)
    return {
        "ph": "X",
        "name": kernel.name,
        "cat": "part" if call.is_part else "kernel",
        "pid": _PROCESS,
        "tid": thread,
        "ts": (call.start - profile.start) / 1e3,
        "dur": (call.end - call.start) / 1e3,
        "args": {} if call.is_part else details,
    }

"""What a compilation and the processes that help it say to each other: JSON objects, each behind its length.

First the worker gets `stages`, `target` and what LLVM says of this machine, `host`, and answers with its `identity`:
who asks goes on only where that is its own. Then the worker gets a kernel at a time, `symbol` and `text`, and answers
with its LLVM IR, `texts`, with `may_fail` and `declaration`, or with an `error`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Final

from xrelay.api.code_stamp import code_stamp
from xrelay.lowering.pipelines import Stage, all_passes
from xrelay.runtime.digests import content_key
from xrelay.runtime.json_fields import JsonFields, parse_json_object
from xrelay.target.host import HostFacts, host_facts
from xrelay.target.target import Target

MODULE: Final = "xrelay.api.worker_process"
"""What the processes run."""
_LENGTH: Final = struct.Struct(">Q")


def write_message(stream: IO[bytes], message: Mapping[str, object]) -> None:
    """Write a message; `OSError` where nobody reads."""
    data = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> JsonFields | None:
    """The next message; `None` at the end of the stream. `ArtifactError` for what is none."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    what = "the message of a worker"
    return JsonFields(parse_json_object(data, what), what) if len(data) == length else None


def code_identity(stages: Sequence[Stage], target: Target, options: Sequence[object]) -> str:
    """What decides the code of kernels but for their texts and the compiler; `options` are those of LLVM."""
    return "\n".join([*all_passes(stages), str(target), ",".join(target.code_features()), *map(str, options)])


def worker_identity(stages: Sequence[Stage], target: Target) -> str:
    """The key of all that worker and compilation have to agree on: the identity of code, and the compiler itself."""
    return content_key([code_stamp().text, code_identity(stages, target, ())])


def host_fields() -> dict[str, object]:
    """What is known of this machine, as `read_host` takes it."""
    facts = host_facts()
    names = {"features": sorted(facts.features), "absent": sorted(facts.absent)}
    return {"arch": facts.arch, "cpu": facts.cpu, **names, "cores": facts.cores, "caches": facts.caches}


def read_host(fields: JsonFields) -> HostFacts:
    """The facts of `host_fields`; `ArtifactError` for what is none."""
    caches = fields.part("caches")
    return HostFacts(
        arch=fields.text("arch"),
        cpu=fields.text("cpu"),
        features=frozenset(fields.texts("features")),
        absent=frozenset(fields.texts("absent")),
        cores=fields.extent("cores"),
        caches={name: caches.extent(name) for name in caches.names},
    )

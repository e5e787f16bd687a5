"""The messages between a compilation and its workers: JSON objects, each preceded by its length.

The first message to a worker has `stages`, `target` and LLVM's facts about this machine, `host`; the worker answers
with its `identity`, which must equal that of the compilation. Each further message has a kernel, `symbol` and `text`.
The answer has its LLVM IR, `texts`, with `may_fail` and `declaration`, or an `error`.
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
"""The module that worker processes run."""
_LENGTH: Final = struct.Struct(">Q")


def write_message(stream: IO[bytes], message: Mapping[str, object]) -> None:
    """Writes a message. Raises `OSError` if the pipe is closed."""
    data = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> JsonFields | None:
    """Reads the next message; `None` at the end of the stream. Raises `ArtifactError` if it is malformed."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    what = "the message of a worker"
    return JsonFields(parse_json_object(data, what), what) if len(data) == length else None


def code_identity(stages: Sequence[Stage], target: Target, options: Sequence[object]) -> str:
    """Returns what the code of kernels depends on besides their texts and the compiler; `options` are LLVM's."""
    return "\n".join([*all_passes(stages), str(target), ",".join(target.code_features()), *map(str, options)])


def worker_identity(stages: Sequence[Stage], target: Target) -> str:
    """Returns a digest that must be equal in worker and compilation: of the code identity and the compiler's stamp."""
    return content_key([code_stamp().text, code_identity(stages, target, ())])


def host_fields() -> dict[str, object]:
    """Returns the facts about this machine in the form that `read_host` reads."""
    facts = host_facts()
    names = {"features": sorted(facts.features), "absent": sorted(facts.absent)}
    return {"arch": facts.arch, "cpu": facts.cpu, **names, "cores": facts.cores, "caches": facts.caches}


def read_host(fields: JsonFields) -> HostFacts:
    """Returns the facts in `host_fields`. Raises `ArtifactError` if they are malformed."""
    caches = fields.part("caches")
    return HostFacts(
        arch=fields.text("arch"),
        cpu=fields.text("cpu"),
        features=frozenset(fields.texts("features")),
        absent=frozenset(fields.texts("absent")),
        cores=fields.extent("cores"),
        caches={name: caches.extent(name) for name in caches.names},
    )

"""Cache records of kernels: the keys of their objects, and the facts that their callers need."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xrelay.errors import ArtifactError
from xrelay.runtime.digests import content_key
from xrelay.runtime.json_fields import JsonFields, parse_json_object

if TYPE_CHECKING:
    from xrelay.runtime.cache import ObjectCache

FOLDER: Final = "kernels"
"""The folder of the records in the cache."""


@dataclass(frozen=True)
class KernelFacts:
    """The facts about a kernel that its callers need."""

    may_fail: bool
    """Whether its status may be nonzero."""
    declaration: str = ""
    """The text of a module that declares the kernel, if callers pass it scratch memory or it allocates memory."""


class KernelRecords:
    """Records of kernels on disk, for one state of the compiler.

    A record that cannot be read, or whose objects are gone, counts as absent.
    """

    def __init__(self, records: ObjectCache, objects: ObjectCache, stamp: str):
        """`stamp` is that of the compiler; `objects` is the cache whose keys the records contain."""
        self._records, self._objects, self._stamp = records, objects, stamp

    def get(self, symbol: str) -> tuple[list[bytes], KernelFacts] | None:
        """Returns the objects and facts of the kernel with a symbol; `None` if there is no record."""
        data = self._records.get(self._key(symbol))
        if data is None:
            return None
        try:
            fields = JsonFields(parse_json_object(data, "the record of a kernel"), "the record of a kernel")
            keys, facts = fields.texts("objects"), KernelFacts(fields.flag("may_fail"), fields.text("declaration"))
        except ArtifactError:
            return None  # the digest matches, so another version wrote it
        objects = [code for key in keys if (code := self._objects.get(key)) is not None]
        return (objects, facts) if len(objects) == len(keys) else None

    def put(self, symbol: str, object_keys: Sequence[str], facts: KernelFacts) -> None:
        """Stores the record of a kernel whose objects are in the cache."""
        record = {"objects": list(object_keys), "may_fail": facts.may_fail, "declaration": facts.declaration}
        self._records.put(self._key(symbol), json.dumps(record).encode())

    def _key(self, symbol: str) -> str:
        return content_key([self._stamp, symbol])

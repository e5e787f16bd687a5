"""The process that runs cases: reads `CAMPAIGN SEED` lines, answers each with a line of JSON.

{"finding": null}
{"finding": "kind: message", "files": {"model.onnx": "<base64>"}, "trace": "…"}
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import traceback
import warnings
from base64 import b64encode

from fuzz.campaigns import CAMPAIGNS
from fuzz.finding import Finding

MEMORY = 10 << 30
"""The limit of a worker's address space in bytes: an allocation beyond it is a `MemoryError`, and so a finding."""


def answer(name: str, seed: int) -> dict[str, object]:
    """Runs one case."""
    try:
        CAMPAIGNS[name].run(seed)
    except Finding as finding:
        files = {file: b64encode(data).decode() for file, data in finding.files.items()}
        return {"finding": str(finding), "files": files, "trace": ""}
    except Exception as error:  # any other exception is a finding
        return {"finding": f"{type(error).__name__}: {error}", "files": {}, "trace": traceback.format_exc()}
    return {"finding": None}


def main() -> None:
    """Serves until standard input ends."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Libraries may print to standard output, so answers go to a copy of it.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        name, seed = line.split()
        answers.write(json.dumps(answer(name, int(seed))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

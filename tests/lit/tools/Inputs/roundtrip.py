"""Checks that xrelay-opt prints each .mlir file of a folder unchanged by way of the generic form."""

import sys
from pathlib import Path

from xrelay.tools.xrelay_opt import main

status = 0
for file in sorted(Path(sys.argv[1]).glob("*.mlir")):
    generic, back = (file.with_suffix(suffix) for suffix in (".generic", ".back"))
    codes = [main([str(file), "-o", str(generic), "--print-op-generic"]), main([str(generic), "-o", str(back)])]
    same = codes == [0, 0] and back.read_text() == file.read_text()
    sys.stdout.write(f"{'unchanged' if same else 'changed'}: {file.name}\n")
    status |= not same
sys.exit(status)

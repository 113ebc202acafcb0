"""How much of featprop one command touches: modules loaded, files entered, package switches, depth of the stack.

    python benchmarks/footprint.py

Runs `featprop select` on a folder of two CSV files with 120 nodes, in a separate process, with a profile hook that
sees every call into featprop; calls made while a module is being imported do not count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

IMPORTS = """
import sys
import {module}
print(sum(name.split(".")[0] == "featprop" for name in sys.modules))
"""

TRACE = """
import json, sys
from pathlib import Path

import featprop
from featprop.__main__ import main

ROOT = str(Path(featprop.__file__).parent)
files, functions, switches, stack, deepest = set(), set(), [0, 0], [], 0


def hook(frame, event, _):
    global deepest
    path = frame.f_code.co_filename
    if not path.startswith(ROOT) or frame.f_code.co_name == "<module>":
        return
    if event == "call":
        package = path[len(ROOT) + 1 :].split("/")[0]
        if stack and not importing(frame):
            switches[0] += stack[-1][0] != path
            switches[1] += stack[-1][1] != package
        if not importing(frame):
            files.add(path)
            functions.add((path, frame.f_code.co_qualname))
        stack.append((path, package))
        deepest = max(deepest, len(stack))
    elif event == "return" and stack:
        stack.pop()


def importing(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


sys.setprofile(hook)
try:
    main()
except SystemExit as end:
    code = end.code
finally:
    sys.setprofile(None)
modules = sum(name.split(".")[0] == "featprop" for name in sys.modules)
found = {"modules": modules, "files": len(files), "functions": len(functions)}
found |= {"file switches": switches[0], "package switches": switches[1], "deepest stack": deepest}
Path("footprint.json").write_text(json.dumps(found))
sys.exit(code)
"""


def write_folder(folder: Path, n_nodes: int = 120) -> None:
    generator = np.random.default_rng(0)
    rows = [f"n{node},{generator.normal():.3f},{generator.normal():.3f},{node % 3}" for node in range(n_nodes)]
    ends = generator.integers(n_nodes, size=(3 * n_nodes, 2))
    folder.mkdir()
    (folder / "nodes.csv").write_text("\n".join(["id,height,width,kind", *rows]))
    (folder / "edges.csv").write_text("\n".join(["source,target", *(f"n{a},n{b}" for a, b in ends)]))


def main() -> None:
    for module in ("featprop", "featprop.graph", "featprop.strategies", "featprop.models"):
        count = subprocess.check_output([sys.executable, "-c", IMPORTS.format(module=module)], text=True)
        print(f"import {module:22} {count.strip():>4} modules")
    with tempfile.TemporaryDirectory() as place:
        write_folder(Path(place) / "graph")
        command = ["select", "graph", "--budget", "12", "--out", "picks.csv"]
        subprocess.run([sys.executable, "-c", TRACE, *command], cwd=place, check=True, capture_output=True)
        found = json.loads((Path(place) / "footprint.json").read_text())
    print("featprop select, 120 nodes:", ", ".join(f"{count} {name}" for name, count in found.items()))


if __name__ == "__main__":
    main()

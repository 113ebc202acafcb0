"""Every sentence a user of featprop can meet in an error, a log line, the output of a command or its help.

``make messages`` writes them to ``tests/messages.txt``, which is reviewed as text; ``tests/test_messages.py`` compares.
Messages are read from the source, so the list is complete: an expression inside an f-string stays as it is written.

    python tests/messages.py [FOLDER OR FILE ...]    print those of a part of the source
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "featprop"
GOLDEN = ROOT / "tests" / "messages.txt"
LOG_METHODS = {"debug", "info", "warning", "error", "exception"}


def messages_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (kind, message) of one file, in the order of the source."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        kind = _kind(node.func)
        if not kind:
            continue
        texts = [node.args[0]] if node.args else []
        texts += [keyword.value for keyword in node.keywords if keyword.arg in ("message", "hint", "help")]
        found = [text for text in map(_text, texts) if text]
        if found:
            yield kind, " ".join(" ".join(found).split())


def _kind(function: ast.expr) -> str:
    """Return what a call makes: an error of a type, a log line, output, or help; nothing for any other call."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    if name.endswith("Error") and name[0].isupper():
        return name
    if name == "__init__" and owner == "super()":
        return "error"
    if name in LOG_METHODS and owner.lower().endswith(("logger", "log", "_log")):
        return "log"
    if name == "echo" or (name == "print" and owner in ("", "console")):
        return "output"
    if owner == "typer" and name in ("Option", "Argument", "Typer"):
        return "help"
    return ""


def _text(node: ast.expr) -> str:
    """Return a literal or an f-string as text, its expressions in braces; nothing for any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            elif isinstance(part, ast.FormattedValue):
                parts.append("{" + ast.unparse(part.value) + "}")
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.IfExp):
        return " | ".join(text for text in (_text(node.body), _text(node.orelse)) if text)
    return ""


def all_messages(paths: list[Path]) -> str:
    """Return the messages of these files and folders, one per line and sorted."""
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    lines = {f"{kind}: {message}" for file in files for kind, message in messages_in(file)}
    return "".join(f"{line}\n" for line in sorted(lines))


if __name__ == "__main__":
    chosen = [Path(argument) for argument in sys.argv[1:]]
    if chosen:
        sys.stdout.write(all_messages(chosen))
    else:
        GOLDEN.write_text(all_messages([SOURCES]), encoding="utf-8")

"""Collect every sentence a user of featprop can meet in an error, a log line, the output of a command or its help.

``make messages`` writes them to ``tests/messages.txt``, which is reviewed as text; ``tests/test_messages.py`` compares.
Messages are read from the source, so the list is complete: an expression inside an f-string stays as it is written.

    python tests/messages.py [FOLDER OR FILE ...]    print those of a part of the source
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "featprop"
GOLDEN = ROOT / "tests" / "messages.txt"
LOG_METHODS = {"debug", "info", "warning", "error", "exception"}
MESSAGE_KEYWORDS = ("message", "hint", "help", "detail", "show_default")
SENTENCE = re.compile(r"\s*(?!SELECT )[A-Z{][^\n]*\w [^\n]*\w [^\n]*[.?!]\s*")
"""Any other text that looks like a sentence, such as one a function returns."""


def messages_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (kind, message) of one file."""
    seen: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            seen.add(node.value)  # a docstring
        if node in seen:
            continue
        for kind, texts in _messages_of(node):
            seen.update(part for text in texts for part in ast.walk(text))
            found = [text for text in map(_text, texts) if text.strip()]
            if found:
                yield kind, " ".join(" ".join(found).split())


def _messages_of(node: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield the kind and the texts of the messages that one node of the syntax tree makes."""
    if isinstance(node, ast.Call):
        kind = _kind(node.func)
        texts = [node.args[1]] if kind == "progress" and len(node.args) > 1 else node.args[:1]
        texts += [keyword.value for keyword in node.keywords if keyword.arg in MESSAGE_KEYWORDS]
        if kind:
            yield kind, texts
    elif isinstance(node, ast.FunctionDef | ast.ClassDef) and _prints_docstring(node):
        yield "help", [ast.Constant(ast.get_docstring(node) or "")]
    elif isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("StrEnum") for base in node.bases):
        for member in node.body:
            if isinstance(member, ast.Assign) and " " in _text(member.value):
                yield "reason", [member.value]
    elif isinstance(node, ast.Constant | ast.JoinedStr) and SENTENCE.fullmatch(_text(node)):
        yield "text", [node]


def _kind(function: ast.expr) -> str:
    """Return what a call makes: an error of a type, a log line, output, or help; nothing for any other call."""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    if name.endswith(("Error", "HTTPException")) and name[0].isupper():
        return name
    if name == "__init__" and owner == "super()":
        return "error"
    if name in LOG_METHODS and owner.lower().endswith(("logger", "log", "_log")):
        return "log"
    if (owner, name) == ("warnings", "warn"):
        return "log"
    if name == "echo" or (name == "print" and owner in ("", "console")) or name in ("print_line", "print_text"):
        return "output"
    if owner == "typer" and name in ("Option", "Argument", "Typer"):
        return "help"
    return "progress" if name == "tracked" else ""


def _prints_docstring(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Return whether a command prints this docstring: it is a command's own, or a strategy's or model's."""
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(".command(" in text or ".callback(" in text or "register" in text for text in decorators)


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


def package_of(path: Path) -> str:
    """Return the package or module directly below ``featprop`` that a source file belongs to."""
    return path.resolve().relative_to(SOURCES).parts[0].removesuffix(".py")


def messages_by_package(paths: list[Path]) -> dict[str, list[tuple[str, str]]]:
    """Return the distinct (kind, message) pairs of these files and folders, sorted, by package."""
    files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    found: dict[str, set[tuple[str, str]]] = {}
    for file in files:
        found.setdefault(package_of(file), set()).update(messages_in(file))
    return {package: sorted(messages) for package, messages in sorted(found.items()) if messages}


def all_messages(paths: list[Path]) -> str:
    """Return the messages of these files and folders, one per line under a heading for each package."""
    sections = []
    for package, messages in messages_by_package(paths).items():
        sections.append(f"[{package}]\n" + "".join(f"{kind}: {message}\n" for kind, message in messages))
    return "\n".join(sections)


if __name__ == "__main__":
    chosen = [Path(argument) for argument in sys.argv[1:]]
    if chosen:
        sys.stdout.write(all_messages(chosen))
    else:
        GOLDEN.write_text(all_messages([SOURCES]), encoding="utf-8")

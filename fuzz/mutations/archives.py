"""Members of a zip archive changed, dropped, repeated, renamed; the archive itself stays right, or its bytes change."""

from __future__ import annotations

import io
import random
import warnings
import zipfile
from collections.abc import Callable

from fuzz.mutations.content import mutated_bytes

__all__ = ["mutated_archive"]

Change = Callable[[random.Random, str, bytes], bytes]


def mutated_archive(random: random.Random, content: bytes, change: Change) -> bytes:
    """Return an archive of which one or two members are changed by `change`, or the bytes of which are."""
    if random.random() < 0.2:
        return mutated_bytes(random, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(random.choice([1, 1, 2])):
        place, way = random.randrange(len(members)), random.randrange(12)
        name, inside = members[place]
        if way == 0 and len(members) > 1:
            del members[place]
        elif way == 1:
            members.append((name, mutated_bytes(random, inside)))
        elif way == 2:
            members[place] = random.choice([f"../{name}", name.upper(), f"{name}x", "", "/etc/x"]), inside
        elif way == 3:
            random.shuffle(members)
        elif way == 4:
            members[place] = name, random.choice(members)[1]
        else:
            members[place] = name, change(random, name, inside)
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, inside in members:
            archive.writestr(name or "_", inside)
    return file.getvalue()

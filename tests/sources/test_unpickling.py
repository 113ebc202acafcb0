"""Pickles: what data sets hold comes back equal to Python's own reading, and nothing else runs."""

import collections
import os
import pickle
import struct
import subprocess
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import FileError
from featprop.sources import read_graph
from featprop.sources.unpickling import unpickled
from fuzz.mutations.pickles import CRAFTED

generator = np.random.default_rng(0)


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize(
    "value",
    [
        np.arange(12, dtype=np.int32).reshape(3, 4),
        np.asfortranarray(generator.normal(size=(3, 4))),
        generator.normal(size=(2, 3, 4)).astype(">f4"),
        np.array([True, False]),
        np.array(["a", "bc"]),
        np.zeros((0, 3), dtype=np.float32),
    ],
    ids=str,
)
def test_arrays(value, protocol):
    read = unpickled(pickle.dumps(value, protocol), "a file")
    assert read.dtype == value.dtype.newbyteorder("=")
    assert np.array_equal(read, value)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_matrices(kind, protocol):
    matrix = kind(sp.random_array((5, 7), density=0.4, random_state=1, format="csr"))
    read = unpickled(pickle.dumps(matrix, protocol), "a file")
    assert isinstance(read, sp.csr_array)
    assert np.array_equal(read.toarray(), matrix.toarray())


def test_names_of_older_scipy_and_python_2():
    new = pickle.dumps(sp.csr_matrix(np.eye(3)), protocol=2)
    old = new.replace(b"scipy.sparse._csr\n", b"scipy.sparse.csr\n").replace(b"numpy._core.", b"numpy.core.")
    assert old != new
    assert np.array_equal(unpickled(old, "a file").toarray(), np.eye(3))
    neighbours = collections.defaultdict(list, {0: [1, 2], 1: [0], 2: [0]})
    python_2 = pickle.dumps(neighbours, protocol=2)
    assert b"__builtin__\nlist" in python_2
    assert unpickled(python_2, "a file") == {0: [1, 2], 1: [0], 2: [0]}


def test_object_arrays():
    names = np.array(["a", ["b", 3], None], dtype=object)
    assert unpickled(pickle.dumps(names, protocol=3), "a file").tolist() == names.tolist()


class Exploit:
    """Runs a command when it is unpickled freely."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def exploits(target):
    return {
        "os.system": Exploit(os.system, f"touch {target}"),
        "subprocess": Exploit(subprocess.check_call, ["touch", str(target)]),
        "eval": Exploit(eval, f"open({str(target)!r}, 'w')"),
        "open": Exploit(open, str(target), "w"),
        "numpy": Exploit(np.save, str(target) + ".npy", [1]),
        "getattr": Exploit(getattr, "text", "upper"),
        "inside": {0: [1, Exploit(os.mkdir, str(target))]},
    }


@pytest.mark.parametrize("name", exploits(""))
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_exploits_run_nothing(name, protocol, tmp_path):
    target = tmp_path / "owned"
    content = pickle.dumps(exploits(target)[name], protocol)
    with pytest.raises(FileError) as caught:
        unpickled(content, "ind.cora.x")
    assert str(caught.value).startswith("ind.cora.x ")
    assert list(tmp_path.iterdir()) == []


def test_the_exploits_are_real(tmp_path):
    for name in ("os.system", "eval", "open", "inside"):
        target = tmp_path / name.replace(".", "_")
        result = pickle.loads(pickle.dumps(exploits(target)[name]))
        getattr(result, "close", lambda: None)()
        assert target.exists()


def test_an_exploit_in_an_npz_runs_nothing(tmp_path):
    target = tmp_path / "owned"
    harmless = np.ones(1)
    labels = np.array([Exploit(os.system, f"touch {target}")], dtype=object)
    parts = {f"{name}_{part}": harmless for name in ("adj", "attr") for part in ("data", "indices", "indptr", "shape")}
    for name in ("adj_data", "adj_matrix"):
        arrays = parts | {name: labels} if name == "adj_data" else {name: labels, "node_attr": harmless}
        np.savez(tmp_path / "graph.npz", allow_pickle=True, **arrays)
        with pytest.raises(FileError) as caught:
            read_graph(tmp_path / "graph.npz")
        assert f"{name} in {tmp_path / 'graph.npz'}" in str(caught.value)
        assert not target.exists()


def array_of(dtype_state, code, shape, content):
    """Write a pickle of an array by hand, with any state."""

    class Dtype:
        def __reduce__(self):
            return np.dtype, (code, False, True), dtype_state

    class Array:
        def __reduce__(self):
            reconstruct = np.zeros(1).__reduce__()[0]
            return reconstruct, (np.ndarray, (0,), b"b"), (1, shape, Dtype(), False, content)

    return pickle.dumps(Array(), protocol=2)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (array_of((3, "<", None, None, None, -1, -1, 0), "f8", (1000,), b"12345678"), r"shape \(1000,\) in 8 bytes"),
        (array_of((3, "<", None, None, None, -1, -1, 0), "f8", (-1,), b"12345678"), "no array has"),
        (array_of((3, "<", None, None, None, -1, -1, 0), "f8", (1 << 63,), b""), "no array has"),
        (array_of((3, "<", None, None, None, -1, -1, 0), "f8", ("1",), b"12345678"), "no array has"),
        (array_of((3, "<", None, None, None, -1, -1, 0), "f8", (1,) * 65, b"12345678"), "up to 64 lengths"),
        (array_of((3, "|", None, None, None, -1, -1, 0), "S" + "1" * 20, (1,), b"1"), "a type without a name"),
        (b"\x80\x02cnumpy\ndtype\n(NNNNtR.", "a call with 4 arguments"),
        (array_of((3, "|", None, None, None, 8, 8, 0), "V8", (1,), b"12345678"), "not numbers or texts"),
        (array_of((3, "<", None, None, None, -1, -1, 0), "f8,O", (1,), b"12345678"), "not numbers or texts"),
        (b"\x80\x02}q\x00", "this:"),
        (b"", "exhausted"),
        (b"no pickle at all", "this:"),
        (pickle.dumps(object()), "a call of"),
        (pickle.dumps({1, 2}, protocol=4), "the operation EMPTY_SET"),
        (b"\x80\x02" + b"]" * 50 + b"a" * 49 + b".", "levels deep"),
        (b"\x80\x02c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00rot13tR.", "rot13"),
        (b"\x80\x02c_codecs\nencode\n}X\x04\x00\x00\x00nameK\x01sb.", "this:"),
    ],
)
def test_damaged_or_crafted_pickles(content, says):
    with pytest.raises(FileError):
        unpickled(content, "a file")


@pytest.mark.parametrize("name", CRAFTED)
def test_pickles_made_to_cost_time_or_memory(name):
    """Python's own reading of some of these would not end, or take all memory; each is refused after one look."""
    with pytest.raises(FileError):
        unpickled(CRAFTED[name], "a file")


@pytest.mark.parametrize("name", CRAFTED)
def test_the_memory_that_security_md_promises(name):
    """Fewer than 300 bytes for each byte of the file, beside what any reading takes."""
    content = CRAFTED[name]
    tracemalloc.start()
    try:
        with pytest.raises(FileError):
            unpickled(content, "a file")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300 * len(content) + 200_000


def test_what_is_there_once_is_read():
    """What lists, dictionaries and arrays count for is no more than four times the fewest bytes one can have."""
    assert unpickled(b"\x80\x02(" + b"]" * 1000 + b"t.", "file") == ([],) * 1000
    assert unpickled(b"\x80\x02(" + b"}" * 1000 + b"t.", "file") == ({},) * 1000
    arrays = [np.zeros(0) for _ in range(1000)]
    assert len(unpickled(pickle.dumps(arrays, protocol=4), "file")) == 1000
    axes = np.zeros((1,) * 32)
    assert unpickled(pickle.dumps(axes), "file").shape == axes.shape


def test_what_is_shared_within_reason_is_read():
    text = "a label that many nodes have"
    names = np.array([text] * 1000, dtype=object)
    assert unpickled(pickle.dumps(names, protocol=3), "a file").tolist() == [text] * 1000
    matrix = sp.csr_matrix(np.eye(50))
    matrix.data = matrix.indices
    twice = {0: matrix, 1: matrix}
    assert np.array_equal(unpickled(pickle.dumps(twice, protocol=2), "a file")[1].toarray(), matrix.toarray())


def test_the_bounds_are_those_that_security_md_promises():
    """Values lie at most 20 deep, and there are at most four values and bytes of arrays for each byte of the file."""
    deep = [b"\x80\x02" + b"]" * (levels - 1) + b"K\x01" + b"a" * (levels - 1) + b"." for levels in (20, 21)]
    assert unpickled(deep[0], "file") is not None
    with pytest.raises(FileError):
        unpickled(deep[1], "file")
    for references, is_read in ((58, True), (59, False)):
        content = b"\x80\x02((" + b"N" * 8 + b"tq\x00" + b"h\x00" * references + b"t."
        values = 1 + 9 * (1 + references)  # the tuple, and one of eight and itself as often as it is referred to
        assert (values <= 4 * len(content)) == is_read
        if is_read:
            assert len(unpickled(content, "file")) == 1 + references
        else:
            with pytest.raises(FileError):
                unpickled(content, "file")


def test_any_change_of_a_byte_is_read_or_refused():
    """Two thousand damaged pickles: some still hold arrays, the others get the one error; none does anything else."""
    wholes = [
        pickle.dumps(sp.csr_matrix(np.eye(4)), protocol=2),
        pickle.dumps({0: [1, 2], 1: [0], 2: [0]}, protocol=2),
        pickle.dumps(np.arange(6.0).reshape(2, 3), protocol=4),
        pickle.dumps(np.array(["a", None], dtype=object), protocol=3),
    ]
    chance = np.random.default_rng(0)
    refused = 0
    for turn in range(2000):
        content = bytearray(wholes[turn % len(wholes)])
        for place in chance.integers(len(content), size=1 + turn % 3):
            content[place] = chance.integers(256)
        try:
            unpickled(bytes(content), "a file")
        except FileError:
            refused += 1
    assert 500 < refused < 2000


def test_addresses_are_never_taken_from_a_file():
    """NumPy reads these bytes as the address of an object if the state of the dtype says it holds none."""
    content = array_of((3, "|", None, None, None, -1, -1, 0), "O8", (1,), struct.pack("P", 0xDEAD))
    with pytest.raises(FileError):
        unpickled(content, "a file")


def test_a_matrix_that_points_outside_itself():
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 10**6], dtype=np.int32)
    with pytest.raises(FileError):
        unpickled(pickle.dumps(matrix, protocol=2), "a file")
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indptr = np.array([0, 2, 3, 0], dtype=np.int32)
    with pytest.raises(FileError):
        unpickled(pickle.dumps(matrix, protocol=2), "a file")

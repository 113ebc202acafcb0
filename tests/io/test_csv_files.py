"""CSV files in the encodings and layouts of other programs."""

import logging
from pathlib import Path

import pyarrow as pa
import pytest

from featprop.errors import FileError
from featprop.io import csv_files, encodings
from featprop.io.table_pieces import CsvPieces
from featprop.io.tables import read_table

TEXT = "id;name;preis\nä1;Käse – „gut“;3,50 €\nö2;Brötchen;0,60 €\n"
READ = {"id": ["ä1", "ö2"], "name": ["Käse – „gut“", "Brötchen"], "preis": ["3,50 €", "0,60 €"]}


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("cp1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
def test_the_encoding_is_found_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, encoding: str, told: str | None
) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes(TEXT.encode(encoding))
    with caplog.at_level(logging.INFO, "featprop"):
        assert read_table(path, text=["id"]).to_pydict() == READ
    assert caplog.messages == ([f"read {path} as {told}"] if told else [])


def test_bytes_that_cp1252_does_not_have_are_latin_1(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes(b"id,name\na,K\xe4se\x9d\n")
    with caplog.at_level(logging.INFO, "featprop"):
        assert read_table(path)["name"].to_pylist() == ["Käse\x9d"]
    assert caplog.messages == [f"read {path} as latin-1"]


def test_a_letter_far_down_the_file_tells_the_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than the blocks that are looked at; letters of UTF-8 lie across their borders."""
    monkeypatch.setattr(encodings, "BLOCK", 1_001)
    path = tmp_path / "nodes.csv"
    path.write_bytes(b"id,name\n" + b"a,x\n" * 5_000 + "b,Käse\n".encode("cp1252"))
    assert read_table(path, text=["id"])["name"].to_pylist()[-1] == "Käse"
    path.write_bytes(b"id,name\n" + "日本,ü\n".encode() * 5_000)
    assert read_table(path, text=["id"])["name"].to_pylist() == ["ü"] * 5_000


def test_utf_8_that_is_damaged_is_not_taken_for_something_else(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes("id,name\na,Käse\nb,Brötchen\nc,".encode() + b"Br\xc3\n")
    with pytest.raises(FileError) as caught:
        read_table(path, text=["id"])
    assert str(caught.value) == (
        f"{path} must be a CSV file in UTF-8; found this: UTF-8 that is damaged in line 4, at the byte 0xc3: "
        "save it again in that format."
    )


def test_the_mark_of_utf_8_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes("\ufeffid,name\na,".encode() + b"K\xe4se, B\xe4r, Gr\xfc\xdfe\n")
    with pytest.raises(FileError, match="found this: UTF-8 that is damaged in line 2, at the byte 0xe4: save it again"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"PK\3\4\x14", "a zip file, as the workbooks of Excel are"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "a workbook of Excel 97 or one with a password"),
        (b"\x1f\x8b\x08", "a compressed file"),
        (b"id,w\na,\xff\xfe\x01\x02\n", "bytes that are no text"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, found: str) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_table(path)
    expected = f"{path} must be a CSV file in UTF-8; found this: {found}: save it again in that format."
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("a|b|c,d\n1|2|3\n", ["a", "b", "c,d"]),
        ('"a,b,c";d\n1;2\n', ["a,b,c", "d"]),
        ('"a,b,c,""d,""";e,f;g\n', ['a,b,c,"d,"', "e,f", "g"]),
        ('"a\nb";c\n1;2\n', ["a\nb", "c"]),
        ("\n\na;b\n1;2\n", ["a", "b"]),
        ("sep=;\na,1;b\n1;2\n", ["a,1", "b"]),
        ("\ufeffSEP=|\r\na|b\r\n1|2\r\n", ["a", "b"]),
        ('"sep=\t"\na\tb\n', ["a", "b"]),
        ("only\n1\n", ["only"]),
        ("a;b\n1,5;2,5,6,7\n", ["a", "b"]),
    ],
)
def test_the_delimiter_is_that_of_the_header_outside_quotes(tmp_path: Path, content: str, columns: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8", newline="")
    assert read_table(path).column_names == columns


def test_codes_stay_text_and_numbers_do_not(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    rows = ["id,plz,n,x,half,hex,long,flag,day", "1,01234,0,0.5,-0.5,0x1F,12345678901234567890,true,2020-01-01"]
    path.write_text("\n".join([*rows, "2,99999,10,2,0,0x2,1,false,2020-01-02"]))
    table = read_table(path, text=["id"])
    assert {name: str(table.schema.field(name).type) for name in table.column_names} == {
        "id": "string",
        "plz": "string",
        "n": "int64",
        "x": "double",
        "half": "double",
        "hex": "string",
        "long": "string",
        "flag": "bool",
        "day": "date32[day]",
    }
    assert table["plz"].to_pylist() == ["01234", "99999"]


def test_dots_between_thousands_are_no_decimal_points_beside_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id;umsatz;preis;faktor;anteil\n1;1.250;3,5;1.5;0.125\n2;950;4,25;1.250;1.500\n")
    table = read_table(path, text=["id"])
    assert table["umsatz"].to_pylist() == ["1.250", "950"]
    assert table["faktor"].to_pylist() == [1.5, 1.25]
    assert table["anteil"].to_pylist() == [0.125, 1.5]
    path.write_text("id;umsatz\n1;1.250\n2;950\n")
    assert read_table(path, text=["id"])["umsatz"].to_pylist() == [1.25, 950]


def test_dots_before_three_digits_beside_small_numbers_stand_between_thousands(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "nodes.csv"
    whole = [3796, 162, 1382, 7, None, 12500, 0]
    rows = zip(["3.796", "162", "1.382", "7", "", "12.500", "0"], "abcdefg", strict=True)
    lines = [f"{number};{number};{number or 'k.a.'};{word}\n" for number, word in rows]
    path.write_text("id;umsatz;kunden;wort\n" + "".join(lines))
    with caplog.at_level(logging.INFO, "featprop"):
        table = read_table(path, text=["id"])
    assert table["id"].to_pylist()[0] == "3.796"
    assert table["umsatz"].to_pylist() == whole
    assert table["kunden"].to_pylist() == whole
    told = "dots stand between thousands, 3.796 is 3796: write 3,796 if it is a decimal number"
    assert caplog.messages == [f"Column {name!r} of {path}: {told}" for name in ("umsatz", "kunden")]


@pytest.mark.parametrize(
    ("texts", "is_told"),
    [
        (["3.796", "162", "1.382", "5", "1.250", "7.5"], False),
        (["3.796", "162", "1.382", "5", "1.250", "1000"], False),
        (["3.796", "1.382", "1.250", "1.625"], False),
        (["3.796", "1.382", "5"], True),
    ],
)
def test_few_dots_are_decimal_points_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, texts: list[str], is_told: bool
) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id;x\n" + "".join(f"{row};{text}\n" for row, text in enumerate(texts)))
    assert read_table(path, text=["id"])["x"].to_pylist() == [float(text) for text in texts]
    told = "3.796 beside whole numbers up to 999 is read as a decimal number: "
    told += "write 3796 if the dot stands between thousands"
    assert caplog.messages == ([f"Column 'x' of {path}: {told}"] if is_told else [])


def test_dots_beside_decimal_points_and_in_files_with_commas_are_decimal_points(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "nodes.csv"
    text = "id;x;y\n" + "".join(f"{row};{'3.796' if row % 2 else row};{row}.5\n" for row in range(10))
    path.write_text(text)
    assert max(read_table(path, text=["id"])["x"].to_pylist()) == 8
    assert [message.count("read as a decimal number") for message in caplog.messages] == [1]
    path.write_text(text.replace(";", ","))
    assert max(read_table(path, text=["id"])["x"].to_pylist()) == 8
    assert [message.count("read as a decimal number") for message in caplog.messages] == [1, 1]


def test_few_dots_in_files_with_commas_are_not_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id,x\n1,3.796\n2,1.382\n3,5\n4,7\n")
    assert read_table(path, text=["id"])["x"].to_pylist() == [3.796, 1.382, 5, 7]
    assert caplog.messages == []


def test_one_word_far_down_leaves_a_column_as_text(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id,age,when\n" + "1,20,2020-01-01\n" * 100_000 + "2,old,never\n")
    assert path.stat().st_size > csv_files.START
    table = read_table(path, text=["id"])
    assert table["age"].to_pylist()[-2:] == ["20", "old"]
    assert table["when"].to_pylist()[-2:] == ["2020-01-01", "never"]


def test_rows_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id,note\na," + "x" * 3_000_000 + "\nb,y\n")
    assert [len(note) for note in read_table(path, text=["id"])["note"].to_pylist()] == [3_000_000, 1]
    width = 20_000
    path.write_text(",".join(f"{'c' * 60}{place}" for place in range(width)) + "\n" + ",".join("1" * width) + "\n")
    assert read_table(path).num_columns == width


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target,w\n")
    assert read_table(path).num_rows == 0


def test_codes_that_come_late_in_a_long_file_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCKS", (200, 1 << 20))
    path = tmp_path / "nodes.csv"
    rows = [f"n{place},{place + 1000},{place}" for place in range(100)]
    path.write_text("id,zip,count\n" + "\n".join([*rows, "n100,01234,100"]) + "\n", encoding="utf-8")
    read = read_table(path, text=["id"]).to_pydict()
    assert read["zip"] == [*(str(place + 1000) for place in range(100)), "01234"]
    assert read["count"] == list(range(101)), "numbers stay numbers"


@pytest.mark.parametrize(
    ("text", "rule", "found"),
    [
        ("id,a,b\n1,2,3\n4,5,6,7,8\n", "3 columns", "5 in row 2 (4,5,6,7,8): quote the field if it holds ','"),
        ("id;a\n1;2\n\n3\n", "2 columns", "1 in row 2 (3): quote the field if it holds ';'"),
        (
            'sep=,\nid,a\n1,"x\ny"\n2,b,"x\ny"\n',
            "2 columns",
            "3 in row 2 (2,b,\"x y\"): quote the field if it holds ','",
        ),
        ("id,a\n1," + "x" * 100 + ",2\n", "2 columns", f"3 in row 1 (1,{'x' * 77}…): quote the field if it holds ','"),
    ],
)
def test_a_row_of_another_length_than_the_header(tmp_path: Path, text: str, rule: str, found: str) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text(text)
    said = f"{path} must have {rule} in every row, as in its header; found {found}, or mend the row."
    for read in (read_table, lambda path: list(CsvPieces(path).read(["id"]))):
        with pytest.raises(FileError) as caught:
            read(path)
        assert str(caught.value) == said


def test_the_row_of_another_length_is_counted_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values after the first block are of another type: it takes no part in the count."""
    monkeypatch.setattr(csv_files, "BLOCKS", (100, 200))
    path = tmp_path / "nodes.csv"
    path.write_text("id,a\n" + "1,2\n" * 1_000 + "1,x\n" * 234 + "1,2,3\n")
    with pytest.raises(FileError, match=r"found 3 in row 1,235 \(1,2,3\)"):
        read_table(path)


def test_a_file_that_cannot_be_counted_is_told_by_its_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id,a\n1,2\n")
    error = pa.ArrowInvalid("CSV parse error: Expected 2 columns, got 3: 1,2,3")
    monkeypatch.setattr(csv_files, "layout_of", lambda _: csv_files.Layout("utf-16", ",", 0))
    assert csv_files.uneven_row(path, error) is None

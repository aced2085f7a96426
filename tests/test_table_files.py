"""Tables in files of every kind: what is read, and what is said of files that are damaged."""

from __future__ import annotations

import datetime
import gzip
import io
import sys
import zipfile
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from codt.data.table_files import parse_table
from codt.data.table_layout import Layout

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

ROWS = [[1, 2.5, "x"], [2, 3.5, "y, z"], [3, -4.5, 'a "b"\nc']]


def read(content: bytes | str, **layout: Any) -> Any:
    return parse_table(content.encode() if isinstance(content, str) else content, "mine.csv", Layout(**layout))


def refusal(content: bytes | str, **layout: Any) -> str:
    with pytest.raises(ValueError, match=r"mine\.csv") as error:
        read(content, **layout)
    return str(error.value)


def frame() -> Any:
    return pd.DataFrame(ROWS, columns=["a", "b", "c"])


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [0, 1, 2])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_are_guessed_and_quotes_understood(separator: str, quoting: int, end: str) -> None:
    text = frame().to_csv(index=False, sep=separator, quoting=quoting, lineterminator=end)
    read_back = read(text)
    assert [read_back[name].dtype.kind for name in "ab"] == ["i", "f"]
    assert read_back.to_numpy().tolist() == ROWS
    pd.testing.assert_frame_equal(read_back, read(text, separator=separator))


def test_a_separator_is_guessed_from_rows_that_agree() -> None:
    assert list(read("name;price\nSmith, John;1\nDoe, Jane;2\n").columns) == ["name", "price"]
    assert list(read('"a;b",c\n1,2\n').columns) == ["a;b", "c"]
    assert list(read("id;first, second, third\n1;2\n3;4\n").columns) == ["id", "first, second, third"]
    assert list(read("y\n1\n2\n").columns) == ["y"]
    assert list(read("sep=|\na|b,c\n1|2\n").columns) == ["a", "b,c"]
    # Where the guess is wrong, the user says what is right.
    assert read("a;b,c\n1;2,3\n", separator=",").shape == (1, 2)
    assert read("a b\n1 2\n", separator="space").shape == (1, 2)
    assert read("a\tb\n1\t2\n", separator="tab").shape == (1, 2)
    # Far into the file.
    long = "a;b\n" + "1;2\n" * 50_000 + '3;"x,y,z"\n'
    assert read(long).shape == (50_001, 2)


def test_decimal_commas() -> None:
    assert read("a;b\n1,5;2\n-3,25;4\n")["a"].tolist() == [1.5, -3.25]
    assert read("a;b\n1.5;2\n")["a"].tolist() == [1.5]
    assert read("a;b\n1.5;2,5\n")["a"].tolist() == [1.5]
    assert read('a;b\n"1,5";2\n')["a"].tolist() == [1.5]
    assert read("a\tb\n1,5\t2\n", decimal=",")["a"].tolist() == [1.5]
    assert read("a;b\n1,5;2\n", decimal=".")["a"].tolist() == ["1,5"]
    # A number with a comma that comes late.
    assert read("a;b\n" + "1;2\n" * 50_000 + "1,5;2\n")["a"].dtype == float
    assert "separates cells" in refusal("a,b\n1,2\n", decimal=",")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    content = "größe;art\n1,5;süß\n".encode(encoding)
    guessed = encoding in ("utf-8", "utf-8-sig", "utf-16")
    table = read(content) if guessed else read(content, encoding=encoding)
    assert table.to_dict("list") == {"größe": [1.5], "art": ["süß"]}


def test_what_is_not_text_in_the_encoding_is_named() -> None:
    message = refusal("a,b\n1,x\n2,ä\n".encode("latin-1"))
    assert "not utf-8 text: byte 0xe4 in line 3" in message
    assert "--encoding" in message
    assert "line 1 holds a zero character" in refusal("a,b\n1,x\n".encode("utf-16-le"))
    for name in ("nonsense", "hex", "", "x\0"):
        with pytest.raises(ValueError, match="encoding="):
            Layout(encoding=name)


def packed(content: bytes, kind: str) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, kind) as stream:
        stream.write(content)
    return bytes(out.getvalue())


def test_compression_is_told_by_content() -> None:
    content = frame().to_csv(index=False).encode()
    for whole in (packed(content, "zstd"), packed(content, "gzip"), gzip.compress(content)):
        pd.testing.assert_frame_equal(read(whole), read(content))
        assert "compressed with" in refusal(whole[:-5])


def test_parquet_and_arrow() -> None:
    table = frame().assign(
        kind=pd.Categorical(["u", "v", "u"]),
        day=pd.to_datetime(["2020-01-31", None, "2020-02-01"]),
        yes=[True, None, False],
    )
    for suffix in ("parquet", "feather"):
        buffer = io.BytesIO()
        getattr(table, f"to_{suffix}")(buffer)
        found = read(buffer.getvalue())
        assert found["kind"].dtype == "category"
        assert found["day"].dtype.kind == "M"
        assert str(found["yes"].dtype) == "boolean"
        assert found["c"].tolist() == [row[2] for row in ROWS]
        assert "is a damaged" in refusal(buffer.getvalue()[:-20])
    # The labels of rows are no feature.
    buffer = io.BytesIO()
    frame().set_index(pd.Index([5, 9, 7])).to_parquet(buffer)
    assert read(buffer.getvalue()).to_numpy().tolist() == ROWS


def test_types_of_columns() -> None:
    table = read(
        "whole,float,yes,day,time,text,clock,nothing\n"
        "1,1.5,true,2020-01-31,2020-01-31 12:30,a,12:30,\n"
        "2,2,false,2020-02-01,2020-01-31T12:30:01,NA,13:00,\n"
    )
    kinds = {name: table[name].dtype.kind for name in table}
    assert {name: kinds[name] for name in ("whole", "float", "yes", "day", "time", "nothing")} == {
        "whole": "i", "float": "f", "yes": "b", "day": "M", "time": "M", "nothing": "f"
    }  # fmt: skip
    assert table["day"].iloc[0] == pd.Timestamp("2020-01-31")
    assert table["text"].iloc[0] == "a"
    assert table["text"].isna().tolist() == [False, True]
    assert table["clock"].tolist() == [datetime.time(12, 30), datetime.time(13)]
    assert table["nothing"].isna().all()


def test_missing_values() -> None:
    table = read("a,b,c\n1,,true\n,x,\nNA,NaN,false\n3,?,true\n", missing=("?",))
    assert table.isna().sum().to_dict() == {"a": 2, "b": 3, "c": 1}
    assert table["a"].dtype == float
    assert str(table["c"].dtype) == "boolean"
    assert read("a\n?\n1\n")["a"].tolist() == ["?", "1"]


def test_whole_numbers_stay_whole() -> None:
    large = 2**60 + 1
    assert read(f"a\n{large}\n1\n")["a"].tolist() == [large, 1]
    holed = read(f"a,b\n{large},1\n,2\n1,3\n")["a"]
    assert holed.tolist()[::2] == [large, 1]
    assert holed.isna().tolist() == [False, True, False]
    assert read("a,b\n7,1\n,2\n")["a"].dtype == float
    unsigned = read(f"a\n{2**64 - 1}\n1\n")["a"]
    assert unsigned.tolist() == [2**64 - 1, 1]
    assert read(f"a\n{2**70 + 1}\n-1\n")["a"].tolist() == [2**70 + 1, -1]
    # What is not written as a whole number is a float, however large.
    assert read("a\n1e30\n2\n")["a"].tolist() == [1e30, 2]
    buffer = io.BytesIO()
    pd.DataFrame({"a": pd.array([large, None], dtype="Int64")}).to_parquet(buffer)
    assert read(buffer.getvalue())["a"].iloc[0] == large


def test_what_is_wrong_with_rows_is_said_with_their_number() -> None:
    assert "3 cells in row 1 (counted from 0), expected 2 as in the header: '3,4,5'" in refusal("a,b\n1,2\n3,4,5\n")
    assert "--separator" in refusal("a,b\n1,2\n3,4,5\n")
    assert "--separator" not in refusal("a,b\n1,2\n3\n", separator=",")
    # A line end in quotes does not count as a row.
    assert "3 cells in row 1 (" in refusal('a,b\n1,"x\ny"\n3,4,5\n')
    assert "a quote is not closed in the row that begins in line 3" in refusal('a,b\n1,2\n3,"x\n5,6\n')
    assert refusal('a,b\n1,2\n3,"' + "x\n" * 200_000).endswith("line 3.")
    assert read('a,b\n1,5" pipe\n')["b"].tolist() == ['5" pipe']
    assert read('a,b\n1,"' + "x" * 3_000_000 + '"\n2,y\n').shape == (2, 2)


def test_a_file_in_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = pd.concat([frame()] * 50).to_csv(index=False)
    monkeypatch.setattr("codt.data.csv_files._LARGEST_PIECE", 64)
    assert read(text).to_numpy().tolist() == ROWS * 50


def test_headers() -> None:
    assert "more than one column called 'a'" in refusal("a,b,a\n1,2,3\n")
    assert list(read(",a\n0,1\n").columns) == ["Unnamed: 0", "a"]
    assert list(read("a,b,\n1,2,\n").columns) == ["a", "b"]
    for content in ("a,b", "a,b\n", "a,b\n\n"):
        assert "no rows" in refusal(content)
    for content in ("", "\n\n", "\ufeff"):
        assert "is empty" in refusal(content)
    buffer = io.BytesIO()
    frame()[:0].to_parquet(buffer)
    assert "no rows" in refusal(buffer.getvalue())


def test_layouts_that_make_no_sense() -> None:
    for wrong in ({"separator": "::"}, {"separator": '"'}, {"separator": "é"}, {"decimal": "x"}, {"decimal": "?"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
            Layout(**wrong)
    with pytest.raises(ValueError, match="separator, too"):
        Layout(separator=",", decimal=",")


def test_cells_as_they_are_written() -> None:
    content = b"id;x;y\n007;1,50;\n010;NA;2020-01-01\n"
    table = parse_table(content, "mine.csv", as_text=True)
    assert table.to_numpy().tolist() == [["007", "1,50", ""], ["010", "NA", "2020-01-01"]]


def test_random_bytes_are_read_or_refused() -> None:
    rng = np.random.default_rng(0)
    starts = [b"", b"PAR1", b"ARROW1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"a,b\n", b"sep=", b'"', b"\xff\xfe"]
    for case in range(300):
        alphabet = b'a1,;\n"\r\t. -' if case % 2 else bytes(range(256))
        content = starts[case % len(starts)] + bytes(rng.choice(list(alphabet), int(rng.integers(0, 40))).tolist())
        with suppress(ValueError):
            assert len(read(content))


def book(*sheets: list[list[Any]]) -> bytes:
    """An Excel file with sheets called s0, s1, ...; text, numbers, truth values and nothing."""

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c t="b"><v>{value:d}</v></c>' if isinstance(value, bool) else f"<c><v>{value!r}</v></c>"

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    names = [f"s{i}" for i in range(len(sheets))]
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        + "".join(f'<Override PartName="/xl/{n}.xml" ContentType="{kind}.worksheet+xml"/>' for n in names)
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        + "".join(f'<Relationship Id="{n}" Type="{office}/worksheet" Target="{n}.xml"/>' for n in names)
        + "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        + "".join(f'<sheet name="{n}" sheetId="{i + 1}" r:id="{n}"/>' for i, n in enumerate(names))
        + "</sheets></workbook>",
    }
    for name, rows in zip(names, sheets, strict=True):
        cells = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/{name}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return buffer.getvalue()


def test_excel() -> None:
    pytest.importorskip("python_calamine")
    content = book(
        [["a", "b", "c", "mixed", None], [1, 2.5, "x", 1, None], [2, None, "y", "z", None]],
        [["only"], [True]],
    )
    table = read(content)
    assert list(table.columns) == ["a", "b", "c", "mixed"]
    assert [table[name].dtype.kind for name in "ab"] == ["i", "f"]
    assert table["mixed"].tolist() == ["1", "z"]
    assert table["b"].isna().tolist() == [False, True]
    assert read(content, sheet="s1")["only"].tolist() == [True]
    assert "no sheet 'x'; expected one of: 's0', 's1'" in refusal(content, sheet="x")
    assert "more than one column called 'a'" in refusal(book([["a", "a"], [1, 2]]))
    assert "is empty" in refusal(book([]))
    assert "no rows" in refusal(book([["a", "b"]]))
    assert read(book([["a"], [1], ["?"]]), missing=("?",))["a"].isna().tolist() == [False, True]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.csv", "a,b\n1,2\n")
    assert "neither an Excel file" in refusal(buffer.getvalue())


def test_excel_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert refusal(book([["a"], [1]])).endswith("pip install python-calamine")

"""Source files have tests under their own names, and the page for contributors lists them."""

from pathlib import Path

import pytest

import test_table as table_program

RENEW = "run `python tests/support/test_table.py --write` and commit what it changes"


@pytest.fixture(scope="module")
def files():
    return table_program.table()


@pytest.mark.slow
def test_nine_files_of_ten_have_tests_of_their_name(files):
    """The others say in `tests/support/tested_elsewhere.toml` which file tests them."""
    assert "\n".join(table_program.faults(files)) == ""


@pytest.mark.slow
def test_the_table_of_the_page_is_that_of_today(files):
    text = table_program.PAGE.read_text(encoding="utf-8")
    assert text == table_program.page(files, text), RENEW


@pytest.mark.slow
def test_the_program_prints_what_is_missing(files, capsys, monkeypatch):
    table_program.main([])
    *_, last = capsys.readouterr().out.splitlines()
    n_named = sum(test is not None for test in files.values())
    assert (
        last
        == f"{n_named} of {len(files)} files have tests of their name, {n_named / len(files):.1%}"
    )
    monkeypatch.setattr(table_program, "table", lambda: {Path("io/_x.py"): None} | files)
    table_program.main(["io"])
    assert "none: skfilterrank/io/_x.py (nowhere)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "tests", "found"),
    [
        ("io/_letor.py", ["io/test_letor.py"], "io/test_letor.py"),
        ("io/_align.py", ["cli/test_align.py", "io/test_aligned.py"], None),
        ("_files/rows.py", ["io/test_rows.py"], "io/test_rows.py"),
        ("_lists/lists.py", ["lists/test_lists.py"], "lists/test_lists.py"),
        ("_files/lists.py", ["lists/test_lists.py"], None),
        ("exceptions.py", ["whole_package/test_exceptions.py"], "whole_package/test_exceptions.py"),
    ],
)
def test_a_test_file_stands_in_the_folder_of_the_room(source, tests, found, tmp_path, monkeypatch):
    monkeypatch.setattr(table_program, "ROOT", tmp_path)
    for path, n_lines in [
        (f"skfilterrank/{source}", 61),
        *((f"tests/{test}", 1) for test in tests),
    ]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("\n" * n_lines)
    # Short files and `__init__.py` are not listed.
    (tmp_path / "skfilterrank" / "short.py").write_text("\n" * 60)
    (tmp_path / "skfilterrank" / "__init__.py").write_text("\n" * 100)
    assert table_program.table() == {Path(source): None if found is None else Path(found)}


@pytest.mark.slow
def test_faults_of_the_list_are_reported(files, monkeypatch, tmp_path):
    (tmp_path / "x.toml").write_text(
        '"no/such.py" = "io/test_letor.py"\n"io/_letor.py" = "io/test_none.py"\n'
    )
    monkeypatch.setattr(table_program, "ELSEWHERE", tmp_path / "x.toml")
    only = {Path("io/_letor.py"): Path("io/test_letor.py"), Path("io/_x.py"): None}
    assert list(table_program.faults(only)) == [
        "50.0% of the files have tests of their name, fewer than 90%.",
        "skfilterrank/io/_x.py has no test file: write one, or name the one that tests it.",
        "skfilterrank/no/such.py is gone or short: take it out.",
        "skfilterrank/io/_letor.py has tests/io/test_letor.py: take it out.",
        "tests/io/test_none.py, which is to test skfilterrank/io/_letor.py, is not there.",
    ]
    # Files that have tests of their name are taken out.
    (tmp_path / "x.toml").write_text('# A list.\n"io/_letor.py" = "a"\n"io/_x.py" = "b"\n')
    assert table_program.still_elsewhere(only) == '# A list.\n"io/_x.py" = "b"\n'
    once = f"{table_program.BEGIN}{table_program.END}"
    for text in ("no marks", once + once):
        with pytest.raises(ValueError, match="must hold these lines once"):
            table_program.page(files, text)

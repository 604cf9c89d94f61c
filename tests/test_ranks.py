"""Ready-made ranks load by QID, and a bad line is named."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from namesake.errors import NamesakeError
from namesake.kb.dump import ranks

QIDS = np.array([1, 42, 76], np.int64)


@pytest.mark.parametrize("gzipped", [False, True])
def test_ranks_by_qid(tmp_path: Path, gzipped: bool) -> None:
    file = tmp_path / "ranks.tsv"
    text = b"Q76\t1.5\nQ99\t7\n\nQ1\t2e-3\nQ42\t-1.0\nQ99999999999999999999\t1\n"
    file.write_bytes(gzip.compress(text) if gzipped else text)
    assert ranks.read_ranks(file, QIDS).tolist() == [0.002, 0, 1.5]


def test_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "BATCH", 2)
    file = tmp_path / "ranks.tsv"
    file.write_text("".join(f"Q{i}\t{i}\n" for i in range(1, 100)))
    assert ranks.read_ranks(file, QIDS).tolist() == [1, 42, 76]


@pytest.mark.parametrize("line", ["Q1", "42\t1", "Q1\tx", "Q1\tnan", "Qx\t1", "Q1 1"])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "ranks.tsv"
    file.write_text(f"Q2\t1\n{line}\n")
    with pytest.raises(NamesakeError, match=r"ranks\.tsv:2: .*Q42<TAB>123\.4"):
        ranks.read_ranks(file, QIDS)


def test_a_line_without_end_is_named(tmp_path: Path) -> None:
    file = tmp_path / "ranks.tsv"
    file.write_text("Q2\t1\nQ1\t" + "1" * (1 << 17))
    with pytest.raises(NamesakeError, match=r"ranks\.tsv line 2: longer than 65,536 bytes"):
        ranks.read_ranks(file, QIDS)


def test_a_cut_off_file_and_a_missing_one_are_named(tmp_path: Path) -> None:
    file = tmp_path / "ranks.tsv.gz"
    file.write_bytes(gzip.compress(b"Q1\t1\n" * 1000)[:-12])
    with pytest.raises(NamesakeError, match=r"ranks\.tsv\.gz cannot be read"):
        ranks.read_ranks(file, QIDS)
    with pytest.raises(NamesakeError, match=r"absent\.tsv: no such file"):
        ranks.read_ranks(tmp_path / "absent.tsv", QIDS)


@pytest.mark.parametrize("option", ["wikipedia", "wikipedia=", "dbpedia=x", "=x"])
def test_a_bad_option_is_refused(option: str) -> None:
    with pytest.raises(NamesakeError, match="wikidata=FILE or wikipedia=FILE"):
        ranks.parse_options([option])


def test_one_file_a_source(tmp_path: Path) -> None:
    files = ranks.parse_options(["wikidata=a=b.tsv", "wikipedia=c.tsv"])
    assert files == {"wikidata": Path("a=b.tsv"), "wikipedia": Path("c.tsv")}
    with pytest.raises(NamesakeError, match="given twice"):
        ranks.parse_options(["wikidata=a.tsv", "wikidata=b.tsv"])


def test_a_file_without_ranks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ranks.tsv").write_text("\n\n")
    with pytest.raises(NamesakeError, match=r"ranks\.tsv contains no rank"):
        ranks.check_ranks(tmp_path / "ranks.tsv")


def test_the_published_ranks_load(shared: Path) -> None:
    loaded = ranks.read_ranks(shared / "quotebank" / "wikipedia.rank.tsv", np.array([192, 206], np.int64))
    assert loaded.tolist() == [136.99353711644824, 65.50242908679415]

"""`namesake kb embed`, `kb walk` and what evaluation makes of vectors, from the outside."""

import gzip
import json
import shutil

from namesake import ablate, evaluate, reproduce
from namesake.sample import ARTICLES, EXPECTED
from small_vectors import write_words


def test_embed_walk_and_link_from_the_command_line(run, sample_kb, tmp_path):
    kb = shutil.copytree(sample_kb.path, tmp_path / "kb")
    words = write_words(tmp_path / "words.txt")
    link = ("link", ARTICLES, "-o", "links.parquet", "--recipe")
    embed = ("kb", "embed", kb, "--encoder")
    ran = run(*link, "ucse-paper", kb=kb)
    assert ran.code == 2
    assert "namesake kb embed" in ran.said
    ran = run(*embed, f"static:{words}", kb=None)
    assert ran.code == 0
    assert "117 entities and" in ran.said
    assert "have vectors of 24 dimensions" in ran.said
    ran = run(*embed, f"static:{words}", kb=None)
    assert ran.code == 2
    assert "--force" in ran.said
    assert run("kb", "walk", kb, "--dimensions", 8, "--seed", 1, kb=None).code == 0
    for recipe in ("ucse-paper", "eigen_iscore-paper"):
        assert run(*link, recipe, kb=kb).code == 0
    assert run("kb", "info", kb, "--verify", kb=None).code == 0
    ran = run(*embed, "static:none.txt", "--force", kb=None)
    assert ran.code == 2
    assert "none.txt" in ran.said


def gold_of_the_sample(folder) -> list[dict]:
    """The sample's truth as gold."""
    rows = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    gold = [{"articleID": row["id"], "name": row["name"], "gold": row["qid"], "split": "test"} for row in rows]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    return gold


def test_evaluate_takes_every_system_that_the_kb_has_vectors_for(vector_kb, sample_kb, tmp_path, monkeypatch):
    monkeypatch.delenv("NAMESAKE_MGENRE", raising=False)
    gold_of_the_sample(tmp_path)
    neural = {"CSE", "NCSE", "CSSVE", "UCSE", "Eigen", "Eigen (IScore)"}

    def methods(kb) -> set[str]:
        report = evaluate(tmp_path / "gold.jsonl", articles=ARTICLES, kb=kb, samples=10)
        return {row["method"] for row in report.rows}

    assert methods(sample_kb) & neural == set()
    assert len(methods(vector_kb) - methods(sample_kb)) >= 5
    assert "UIScore" in methods(sample_kb)


def test_ablate_measures_cse_by_context_where_there_are_vectors(vector_kb, sample_kb, tmp_path):
    gold_of_the_sample(tmp_path)
    report = ablate(ARTICLES, tmp_path / "gold.jsonl", [vector_kb])
    found = {row["method"] for row in report.rows if row["table"] == "7"}
    assert {"CSE, narrow", "CSE, entire", "CSE, ensemble", "narrow", "entire"} <= found
    report = ablate(ARTICLES, tmp_path / "gold.jsonl", [sample_kb])
    assert not any("CSE" in row["method"] for row in report.rows)


def test_reproduce_runs_what_the_kb_suffices_for_beside_the_paper(vector_kb, shared, tmp_path, monkeypatch):
    monkeypatch.delenv("NAMESAKE_MGENRE", raising=False)
    for name in ("reference_scores.parquet", "gold.jsonl", "articles.jsonl.gz"):
        shutil.copy(shared / "quotebank" / name, tmp_path / name)
    with gzip.open(tmp_path / "articles.jsonl.gz", "rt") as file:
        assert sum(1 for _ in file) == 300
    report = reproduce(tmp_path, kb=vector_kb, samples=10)
    own = {row["method"] for row in report.rows if row["table"] == "own run"}
    assert {"CSSVE", "UIScore"} <= own
    assert any(section.title.startswith("Our own run") for section in report.sections)
    report.write(tmp_path / "report")

"""What the command `namesake datasets` does, as functions: list, download and convert data sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from namesake.articles.rejects import NoRejects, Rejects
from namesake.datasets import writers
from namesake.datasets.convert import Counts, convert, with_truth
from namesake.datasets.registry import DATASETS, Dataset, dataset
from namesake.datasets.registry import reader as find_reader
from namesake.errors import NamesakeError
from namesake.evaluation.gold import read_gold
from namesake.files.download import download
from namesake.kb.store import KB
from namesake.progress import Reporter


@dataclass(frozen=True)
class Downloaded:
    """A downloaded data set."""

    dataset: Dataset
    file: Path
    checksum: str
    """`sha256:…` of the file."""


def list_datasets() -> tuple[Dataset, ...]:
    """The data sets that Namesake can read, with their sources, licences and readers."""
    return DATASETS


def get_dataset(name: str, out: str | Path, *, reporter: Reporter | None = None) -> Downloaded:
    """Download a data set from its owners.

    Args:
        name: a name from `list_datasets`.
        out: the folder for the file; it is created if necessary.
        reporter: receives the progress.
    """
    one, reporter = dataset(name), reporter or Reporter()
    if one.url is None:
        raise NamesakeError(f"{name} cannot be downloaded: {one.note} (see {one.home})")
    with reporter.stage(f"downloading {name}"):
        file, checksum = download(one.url, Path(out), one.checksum, reporter.advance)
    return Downloaded(one, file, checksum)


def convert_dataset(
    file: str | Path,
    reader: str,
    *,
    articles: str | Path | None = None,
    gold: str | Path | None = None,
    to: str | None = None,
    out: str | Path | None = None,
    truth: str | Path | None = None,
    kb: KB | str | Path | None = None,
    rejects: Rejects | None = None,
) -> Counts:
    """Convert a data set to `articles` and `gold`, or to one file `out` in the format `to`.

    Args:
        file: a file of the data set.
        reader: the name of its reader, which `list_datasets` states for each data set.
        articles: the output file of articles (JSON lines).
        gold: the output file of gold (JSON lines).
        to: the format of a single output file: plain, quotebank, elevant or nif.
        out: that file.
        truth: a file of gold to read, if the data set has it in a separate file.
        kb: maps titles to QIDs and names to candidates.
        rejects: receives the records that cannot be used; without it, the first of them is an error.
    """
    opened = kb if kb is None or isinstance(kb, KB) else KB.open(kb)
    inputs = [Path(path) for path in (file, truth, None if opened is None else opened.path) if path is not None]
    labelled = find_reader(reader)(Path(file), NoRejects() if rejects is None else rejects)
    if truth is not None:
        labelled = with_truth(labelled, read_gold(Path(truth)))
    if articles is not None and gold is not None and to is None and out is None:
        return convert(labelled, opened, Path(articles), Path(gold), inputs)
    if to is not None and out is not None and articles is None and gold is None:
        return writers.write(labelled, opened, to, Path(out), inputs)
    raise NamesakeError("no output: give `articles=` and `gold=`, or `to=` and `out=`")

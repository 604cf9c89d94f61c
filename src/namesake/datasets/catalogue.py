"""The catalogue of data sets (`catalogue.toml`), their readers, and downloads."""

from __future__ import annotations

from pathlib import Path

import msgspec

from namesake.datasets import json_formats
from namesake.datasets.aida_tsv import read_aida_tsv
from namesake.datasets.labelled_article import Reader
from namesake.datasets.nif import read_nif
from namesake.errors import NamesakeError
from namesake.files.download import download
from namesake.progress import Reporter

READERS: dict[str, Reader] = {
    "nelight": json_formats.read_nelight,
    "aida-json": json_formats.read_aida_json,
    "aida-tsv": read_aida_tsv,
    "elevant": json_formats.read_elevant,
    "elevant-links": json_formats.read_elevant_links,
    "nif": read_nif,
    "plain": json_formats.read_plain,
    "zelda": json_formats.read_zelda,
}
"""The readers by name, for `namesake datasets convert --reader`."""


class DatasetEntry(msgspec.Struct, frozen=True):
    """A data set: `url` is the file itself, `home` the page about it. None: the source does not state it."""

    name: str
    what: str
    reader: str
    home: str
    url: str | None = None
    licence: str | None = None
    checksum: str | None = None
    """`sha256:…` of the file at `url`."""
    note: str = ""


_FILE = Path(__file__).parent / "catalogue.toml"
DATASETS = tuple(msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, list[DatasetEntry]])["dataset"])


def list_datasets() -> tuple[DatasetEntry, ...]:
    """Return the data sets that can be read, with their addresses, licences and readers."""
    return DATASETS


def find_dataset(name: str) -> DatasetEntry:
    """Return the data set with this name."""
    for one in DATASETS:
        if one.name == name:
            return one
    raise NamesakeError(f"no data set {name!r}; there are: {', '.join(one.name for one in DATASETS)}")


def find_reader(name: str) -> Reader:
    """Return the reader with this name."""
    if name not in READERS:
        raise NamesakeError(f"no reader {name!r}; there are: {', '.join(READERS)}")
    return READERS[name]


def get_dataset(name: str, folder: str | Path, progress: Reporter | None = None) -> tuple[Path, str]:
    """Download a data set from its owners, and return the file and its checksum.

    Args:
        name: a name of `list_datasets()`.
        folder: the folder of the file, created if necessary. A complete file there is checked and kept.
        progress: receives the progress of the download.
    """
    one = find_dataset(name)
    if one.url is None:
        raise NamesakeError(f"{name} has no address to download it from: {one.note} (see {one.home})")
    return download(one.url, Path(folder), one.checksum, (progress or Reporter()).advance)

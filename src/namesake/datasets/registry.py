"""The data sets we can read, as facts: what each is, where it is kept, under which licence, who reads it.

Only what a source says stands here; what none says is None. `checksum` is `sha256:…` of the file at `url`.
"""

from dataclasses import dataclass

from namesake.datasets.aida_json import read_aida_json
from namesake.datasets.aida_tsv import read_aida_tsv
from namesake.datasets.elevant import read_elevant, read_elevant_links
from namesake.datasets.labelled import Reader
from namesake.datasets.nelight import read_nelight
from namesake.datasets.nif import read_nif
from namesake.datasets.plain import read_plain
from namesake.datasets.zelda import read_zelda
from namesake.errors import NamesakeError

READERS: dict[str, Reader] = {
    "nelight": read_nelight,
    "aida-json": read_aida_json,
    "aida-tsv": read_aida_tsv,
    "elevant": read_elevant,
    "elevant-links": read_elevant_links,
    "nif": read_nif,
    "plain": read_plain,
    "zelda": read_zelda,
}
"""The readers by name: what `namesake datasets convert --reader` takes."""


@dataclass(frozen=True)
class Dataset:
    """A data set: `url` is the file itself, `home` the page about it."""

    name: str
    what: str
    reader: str
    home: str
    url: str | None = None
    licence: str | None = None
    checksum: str | None = None
    note: str = ""


ELEVANT = "https://github.com/ad-freiburg/elevant"
ELEVANT_FILES = (
    "https://raw.githubusercontent.com/ad-freiburg/elevant/b9d07cf8ced11ee404f4bb7ec28307ef645c7363/benchmarks"
)
N3 = "https://github.com/dice-group/n3-collection"
N3_FILES = "https://raw.githubusercontent.com/dice-group/n3-collection"
N3_LICENCE = "CC BY-NC-SA 4.0"
OKE = "https://github.com/anuzzolese/oke-challenge"
OKE_FILES = "https://raw.githubusercontent.com/anuzzolese/oke-challenge/refs/heads/master"
PAPER = "https://github.com/epfl-dlab/nelight"
AIDA = "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads"

DATASETS = (
    Dataset(
        "quotebank",
        "300 news articles of Quotebank with the paper's hand-made truth about their speakers",
        "nelight",
        PAPER,
        note="ask the owners for articles and truth; the whole of Quotebank is doi:10.5281/zenodo.4277311",
    ),
    Dataset(
        "aida-conll-json",
        "AIDA-CoNLL with candidates, as the paper's authors store it",
        "aida-json",
        PAPER,
        note="ask the owners; its texts are Reuters's and may not be passed on",
    ),
    Dataset(
        "aida-conll",
        "AIDA-CoNLL-YAGO: 1,393 Reuters articles of CoNLL 2003 with 34,956 mentions (annotations only)",
        "aida-tsv",
        AIDA,
        "http://resources.mpi-inf.mpg.de/yago-naga/aida/download/aida-yago2-dataset.zip",
        "CC BY-SA 3.0 (annotations; the Reuters texts are not in it)",
        note="its program joins the annotations with your CoNLL 2003 files to AIDA-YAGO2-dataset.tsv: convert that",
    ),
    Dataset(
        "news-fair",
        "ELEVANT's News-Fair without coreference: 40 news articles, three paragraphs of each annotated",
        "elevant",
        ELEVANT,
        f"{ELEVANT_FILES}/news-fair-no-coref.benchmark.jsonl",
    ),
    Dataset(
        "wiki-fair",
        "ELEVANT's Wiki-Fair without coreference: 80 Wikipedia articles, three paragraphs of each annotated",
        "elevant",
        ELEVANT,
        f"{ELEVANT_FILES}/wiki-fair-no-coref.benchmark.jsonl",
    ),
    Dataset(
        "reuters-128",
        "N³'s Reuters-128: 128 economic news articles with 880 mentions",
        "nif",
        N3,
        f"{N3_FILES}/14b07501f45ba0b4bf2bec44c7f3f5eb150c1387/Reuters-128.ttl",
        N3_LICENCE,
    ),
    Dataset(
        "rss-500",
        "N³'s RSS-500: sentences from news feeds",
        "nif",
        N3,
        f"{N3_FILES}/75fc2ef1b4e0f46ca9b091887460ea43daa43996/RSS-500.ttl",
        N3_LICENCE,
    ),
    Dataset(
        "oke-2015",
        "Open Knowledge Extraction challenge 2015, task 1: 101 sentences of scholars' biographies, for evaluation",
        "nif",
        OKE,
        f"{OKE_FILES}/evaluation-data/task1/evaluation-dataset-task1.ttl",
    ),
    Dataset(
        "gerbil",
        "the corpora GERBIL ships, KORE50 (50 short, hard sentences) and OKE among them",
        "nif",
        "https://github.com/dice-group/gerbil",
        "https://github.com/dice-group/gerbil/releases/download/v1.2.6/gerbil_data.zip",
        note="an archive: unpack it and convert its .ttl files; each corpus has its own licence",
    ),
    Dataset(
        "zelda",
        "ZELDA: Wikipedia for training and nine test sets for disambiguation",
        "zelda",
        "https://github.com/flairNLP/zelda",
        "https://nlp.informatik.hu-berlin.de/resources/datasets/zelda/zelda_full.zip",
        note="an archive: unpack it and convert the files in test_data/jsonl; its training part comes from CC BY-SA "
        "3.0 texts",
    ),
)


def dataset(name: str) -> Dataset:
    """The data set of that name."""
    known = {one.name: one for one in DATASETS}
    if name not in known:
        raise NamesakeError(f"no data set {name!r}; there are: {', '.join(known)}")
    return known[name]


def reader(name: str) -> Reader:
    """The reader of that name."""
    if name not in READERS:
        raise NamesakeError(f"no reader {name!r}; there are: {', '.join(READERS)}")
    return READERS[name]

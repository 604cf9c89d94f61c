"""Build a KB: parse the dumps, spill what they say, assemble it by QID, publish it.

While dumps are read, memory holds a few chunks per worker and nothing that grows with the dump. What follows is made
in memory where that is large enough, else in mapped files and one thing after the other: see `memory` and `large`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from namesake import language as languages
from namesake.arrays import Float64
from namesake.files import STDIN
from namesake.files.clean_exit import clean_exit
from namesake.files.several import Paths, several
from namesake.kb.build_options import Keep, Options, place
from namesake.kb.columns.assemble import Numbering, Statements, links, number, repeated, state
from namesake.kb.columns.derived import derive_all
from namesake.kb.columns.fame import entity_fame
from namesake.kb.columns.layout import KBColumns, columns
from namesake.kb.columns.name_layout import NameColumns
from namesake.kb.columns.pagerank import pagerank
from namesake.kb.columns.picked_rows import EntityTexts, entity_columns, item_columns, pick, statement_columns
from namesake.kb.columns.stages import Parts, make_parts
from namesake.kb.columns.word_sets import index_kb_words, prose
from namesake.kb.dump.build_inputs import Inputs
from namesake.kb.dump.parsed_items import Gathering, Items
from namesake.kb.dump.ranks import SOURCES, read_ranks
from namesake.kb.dump.spill import Spill
from namesake.kb.dump.wikipedia import Wikipedia
from namesake.kb.kinds import KINDS
from namesake.kb.manifest import FORMAT_VERSION, REJECTS, Manifest
from namesake.kb.names.index import build_names
from namesake.kb.names.labels import Spelled
from namesake.kb.names.misspellings import build_slips
from namesake.kb.names.name_tokens import count_tokens, prose_of
from namesake.kb.names.non_people import build_things, item_kinds, stated_by, thing_names
from namesake.kb.names.short_forms import build_shorts, list_forms
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.memory import Memory
from namesake.machine import cores
from namesake.progress import Reporter


def build(
    dumps: Paths,
    out: str | Path,
    *,
    keep: Keep = "people",
    wikipedia: str | Path | None = None,
    ranks: Mapping[str, Path] | None = None,
    language: str = "en",
    words: str = "stem",
    workers: int | None = None,
    memory: int | str | Memory | None = None,
    force: bool = False,
    reporter: Reporter | None = None,
) -> Manifest:
    """Build a KB from Wikidata dumps and return its manifest.

    A build that is stopped after it has read the dumps, or that runs out of disk or memory, keeps its finished stages,
    and the same call resumes it. The text of KeyboardInterrupt, or of the error, names the folder.

    Args:
        dumps: one or several files in Wikidata's JSON, plain or compressed; `-` is standard input.
        out: the folder to make. Nothing is there until the KB is complete.
        keep: which items become entities, "people" or "all"; the others keep their label and links.
        wikipedia: a CirrusSearch content dump, for first paragraphs and the ranks of PR_WP.
        ranks: files of ready-made ranks, for "wikidata" or "wikipedia".
        language: the language of labels, words and names, by its name.
        words: how words are reduced: "stem", "lemma" or "none".
        workers: how many threads parse; default: one for each core.
        memory: how much memory to take, in bytes or such as "8G"; default: half of what the machine has. The KB is the
            same for any.
        force: replace a KB that is there already.
        reporter: told how far the work is.
    """
    bound = Memory.of(memory)
    options = Options(
        dumps=tuple(str(dump) for dump in several(dumps)),
        out=place(out),
        keep=keep,
        wikipedia=None if wikipedia is None else Path(wikipedia),
        ranks=ranks or {},
        language=languages.of(language),
        words=words,
        workers=bound.workers(workers or cores()),
        memory=bound,
        force=force,
    )
    reporter = reporter or Reporter()
    options.check()
    draft = Draft(options.out, force, options.key, reporter.say)
    with clean_exit(draft), draft, Spill(draft.spill) as spill:
        inputs = Inputs(options, draft, spill, reporter)
        inputs.say_needs()
        gathered = inputs.dumps()
        with options.memory.room(spill.size + options.wikipedia_bytes, spill.folder).used():
            return _assemble(options, draft, inputs, gathered, reporter)


def _assemble(options: Options, draft: Draft, inputs: Inputs, gathered: Gathering, reporter: Reporter) -> Manifest:
    """From what the dumps say to the published KB."""
    rejects = inputs.rejects
    with reporter.stage("numbering items and statements"):
        items = gathered.finish()
        rows = number(items)
        rejects.add(repeated(items, rows))
        stated = state(items, rows)
    wikipedia = inputs.wikipedia(rows.entity_qids)
    names, words = _index(options, draft, items, rows, stated, wikipedia, reporter)
    with reporter.stage("publishing"):
        draft.write_blocks(REJECTS, [rejects.lines()])
        return draft.publish(
            Manifest(
                format_version=FORMAT_VERSION,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                dumps=list(options.dumps),
                dump_date=_dump_date(options.dumps),
                keep=options.keep,
                language=options.language.name,
                words_how=options.words,
                ranks=_rank_sources(options, wikipedia),
                entities=len(rows.entity_item),
                people=int(items.person[rows.entity_dump].sum()),
                items=len(rows.item_qids),
                statements=len(stated.of_entity.values),
                names=names,
                words=words,
                rejected=len(rejects),
                rejected_reasons=dict(rejects.reasons.most_common()),
                superseded=rows.superseded,
                dates_dropped=gathered.dates_dropped,
            )
        )


def _index(
    options: Options,
    draft: Draft,
    items: Items,
    rows: Numbering,
    stated: Statements,
    wikipedia: Wikipedia | None,
    reporter: Reporter,
) -> tuple[int, int]:
    """Everything that follows from items and statements; returns how many names and words there are."""
    picked = pick(items, rows)
    texts = EntityTexts.of(items, rows, picked[KBColumns.descriptions], wikipedia)

    spelled = Spelled.of(options.language, texts.labels, texts.aliases, texts.alias_texts)
    kinds = item_kinds(items, rows)

    def names() -> int:
        things = thing_names(items, rows, kinds, stated_by(stated, len(kinds)))
        draft.write_all(build_things(things))
        made = build_names(spelled, prose(items, rows.dump_of, stated, texts.descriptions), things.texts)
        draft.write_all(made)
        bearers = made[NameColumns.texts], made[NameColumns.entities]
        draft.write_all(build_slips(*bearers, picked[KBColumns.sitelinks]))
        return len(made[NameColumns.texts])

    def shorts() -> None:
        shortened = np.array([kind.shortened for kind in KINDS])[kinds[rows.entity_item]]
        fame = entity_fame(picked[KBColumns.sitelinks], np.diff(stated.of_entity.indptr))
        listed = list_forms(spelled, shortened, fame)
        draft.write_all(build_shorts(listed) | count_tokens(listed, prose_of(items, rows.first)))

    def words() -> int:
        made = index_kb_words(
            *(items, rows.dump_of, stated, texts.descriptions, texts.paragraphs), options.language, options.words
        )
        draft.write_all(made)
        return len(made[KBColumns.words])

    def ranks() -> None:
        draft.write(KBColumns.pagerank_wikidata, wikidata_ranks(options, items, rows))
        draft.write(KBColumns.pagerank_wikipedia, wikipedia_ranks(options, rows, wikipedia))

    def entities() -> None:
        draft.write(KBColumns.item_kind, kinds)
        draft.write_all(picked | entity_columns(rows, texts) | statement_columns(stated) | item_columns(items, rows))

    parts: Parts = {
        "indexing words": words,
        "indexing names": names,
        "indexing short forms": shorts,
        "ranking items": ranks,
        "writing entities": entities,
    }
    counts = make_parts(parts, draft, options.workers, reporter)
    derive_all(draft)
    unmade = [column.file for column in columns().values() if not draft.holds(column)]
    assert not unmade, f"declared in layout.py, and made by nobody: {unmade}"
    return counts["indexing names"] or 0, counts["indexing words"] or 0


def wikidata_ranks(options: Options, items: Items, rows: Numbering) -> Float64:
    """PR_WD of the entities: loaded, or computed on the links between all items."""
    if "wikidata" in options.ranks:
        return read_ranks(options.ranks["wikidata"], rows.entity_qids)
    return pagerank(links(items, rows))[rows.entity_item]


def wikipedia_ranks(options: Options, rows: Numbering, wikipedia: Wikipedia | None) -> Float64:
    """PR_WP of the entities: loaded, or computed from the Wikipedia dump, or unknown."""
    if "wikipedia" in options.ranks:
        return read_ranks(options.ranks["wikipedia"], rows.entity_qids)
    computed = wikipedia.ranks if wikipedia else None
    return np.zeros(len(rows.entity_item), np.float64) if computed is None else computed


def _rank_sources(options: Options, wikipedia: Wikipedia | None) -> list[str]:
    linked = wikipedia is not None and wikipedia.ranks is not None
    computed = {
        "wikidata": "computed",
        "wikipedia": f"computed from {options.wikipedia}" if linked else "none",
    }
    return [f"{source}: {options.ranks.get(source, computed[source])}" for source in SOURCES]


def _dump_date(dumps: Sequence[str]) -> str | None:
    """The day of the youngest dump file; unknown for stdin."""
    times = [Path(dump).stat().st_mtime for dump in dumps if dump != STDIN]
    return datetime.fromtimestamp(max(times), UTC).date().isoformat() if times else None

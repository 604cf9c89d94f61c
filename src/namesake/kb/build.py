"""Build or update a KB: parse the dumps to columns on disk, assemble them by QID, publish the KB.

While dumps are read, memory holds a few chunks per worker. The rest is built in memory if it is large enough, else in
mapped files and one part at a time: see `columns.large`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from namesake import language as languages
from namesake.arrays import Int8
from namesake.errors import NamesakeError
from namesake.files import STDIN, Paths, several
from namesake.files.draft import Stage, clean_exit
from namesake.kb.build_options import ITSELF, WORKER, Options, memory_bound, place
from namesake.kb.columns import Columns, KBColumns, NameColumns, assemble, columns, large
from namesake.kb.columns.assemble import Numbering, Statements
from namesake.kb.columns.derived import derive_all
from namesake.kb.columns.words import index_kb_words
from namesake.kb.dump import revisions
from namesake.kb.dump.gather import Inputs
from namesake.kb.dump.parse import Items
from namesake.kb.dump.ranks import SOURCES, pagerank, read_ranks
from namesake.kb.dump.wikipedia import Wikipedia
from namesake.kb.kinds import NOT_ASKED, item_kinds
from namesake.kb.left import KnownForms, KnownNames, same_rules, unchanged
from namesake.kb.manifest import FORMAT_VERSION, REJECTS, Manifest, read_manifest
from namesake.kb.names.build_index import EntityNames, build_misspellings, build_names
from namesake.kb.names.non_people import all_fame, build_non_people, non_people_names, stated_by
from namesake.kb.names.short_forms import FormEntries, Others, count_tokens, list_forms, list_other_forms, prose_of
from namesake.kb.own.records import read_records
from namesake.kb.publish.draft import Draft, Spill
from namesake.kernels.dump.wikidata import DEMONYM, LEAGUE, SPORT
from namesake.kernels.kinds import OTHER, PERSON
from namesake.kinds import PEOPLE, kinds, parse_keep
from namesake.machine import cores, in_order
from namesake.printable import counted
from namesake.progress import Reporter

KIND = "kind"  # the column of `Spill` with the answers of `item_kinds` for each record


def build(
    dumps: Paths,
    out: str | Path,
    *,
    keep: str | Iterable[str] | None = None,
    wikipedia: str | Path | None = None,
    ranks: Mapping[str, Path] | None = None,
    language: str = "en",
    words: str = "stem",
    workers: int | None = None,
    memory: int | str | large.Room | None = None,
    force: bool = False,
    updatable: bool = False,
    deleted: str | Path | None = None,
    reporter: Reporter | None = None,
) -> Manifest:
    """Build a KB from Wikidata dumps and return its manifest.

    A build that is stopped after it has read the dumps, or that runs out of disk or memory, keeps its finished stages,
    and the same call resumes it. The text of KeyboardInterrupt, or of the error, names the folder.

    Args:
        dumps: one or several files in Wikidata's JSON, plain or compressed; `-` is standard input.
        out: the folder of the KB. It appears only when the KB is complete.
        keep: the kinds of items that become entities, such as "people,places"; of other items names and links are kept.
            None keeps every kind. "all" also keeps items that are usually dropped, such as scholarly articles.
        wikipedia: a CirrusSearch content dump, for first paragraphs and PR_WP.
        ranks: files of ranks for "wikidata" or "wikipedia", instead of computed ones.
        language: the language of labels, words and names, by its code.
        words: how words are normalised: "stem", "lemma" or "none".
        workers: the number of threads that parse; default: one for each core.
        memory: how much memory to use, in bytes or as a text such as "8G"; default: half of the machine's memory. The
            KB does not depend on it.
        force: replace an existing KB.
        updatable: keep in the KB what `update` needs, about the size of its largest columns together.
        deleted: a text file with the QIDs of items that are to be left out, one on each line.
        reporter: receives the progress.
    """
    room = memory_bound(memory)
    options = Options(
        dumps=tuple(str(dump) for dump in several(dumps)),
        out=place(out),
        keep=parse_keep(keep),
        wikipedia=None if wikipedia is None else Path(wikipedia),
        ranks=ranks or {},
        language=languages.of(language),
        words=words,
        workers=threads(workers, room),
        room=room,
        force=force,
        updatable=updatable,
        deleted=None if deleted is None else Path(deleted),
    )
    return run(options, reporter or Reporter())


def update(
    kb: str | Path,
    changes: Paths = (),
    out: str | Path | None = None,
    *,
    deleted: str | Path | None = None,
    workers: int | None = None,
    memory: int | str | large.Room | None = None,
    force: bool = False,
    reporter: Reporter | None = None,
) -> Manifest:
    """Add changes to a KB that was built with `updatable`, and return the manifest of the new one.

    The result is the KB that a build from the dumps and the changes would make, byte for byte. It takes less time
    because the dumps are not read again. The KB is replaced when the new one is complete; processes that have it open
    keep the old one. An update that is stopped can be resumed by the same call. Of several records of an item the
    latest revision counts, or the last one if revisions are equal or unknown. Own entities of the KB stay.

    Args:
        kb: the folder of the KB.
        changes: files in the dump's layout, or JSON lines of answers of Special:EntityData and of `wbgetentities`,
            plain or compressed. Deleted and redirected items are understood.
        out: the folder of the new KB; default: `kb` is replaced.
        deleted: a text file with the QIDs of deleted items, one on each line.
        workers: the number of threads that parse; default: one for each core.
        memory: how much memory to use, in bytes or as a text such as "8G"; default: half of the machine's memory.
        force: replace an existing KB at `out`.
        reporter: receives the progress.
    """
    folder, room, reporter = place(kb), memory_bound(memory), reporter or Reporter()
    old = read_manifest(folder)
    if old.sources is None:
        raise NamesakeError(f"{kb} was built without `updatable=True` and cannot be updated: build it again with it")
    sources, target = old.sources, folder if out is None else place(out)
    options = Options(
        dumps=tuple(str(file) for file in several(changes)),
        out=target,
        keep=old.keep,
        wikipedia=None if sources.wikipedia is None else Path(sources.wikipedia),
        ranks={source: Path(file) for source, file in sources.ranks.items()},
        language=languages.of(old.language),
        words=old.words_how,
        workers=threads(workers, room),
        room=room,
        force=force or out is None,
        updatable=True,
        deleted=None if deleted is None else Path(deleted),
        base=(folder, old),
    )
    made = run(options, reporter)
    if outdated := made.updates[-1].outdated:
        be = "is older than the KB and was" if outdated == 1 else "are older than the KB and were"
        reporter.say(f"{counted(outdated, 'change')} {be} ignored")
    return made


def threads(workers: int | None, room: large.Room) -> int:
    """The number of threads that parse: those asked for, as far as they fit in memory."""
    return max(1, min(workers or cores(), (room.bound - ITSELF) // WORKER))


def run(options: Options, reporter: Reporter) -> Manifest:
    """Build or update a KB, as the options say."""
    room = options.room
    options.check()
    draft = Draft(options.out, options.force, options.key, reporter.say)
    with clean_exit(draft), draft:
        spill = Spill(draft.folder)
        inputs = Inputs(options, draft, spill, reporter)
        inputs.dumps()
        if options.memory_needed(sum(spill.sizes.values()) + options.wikipedia_bytes) > room.bound:
            room = replace(room, folder=spill.folder)
        with room.used():
            return _assemble(inputs)


def _assemble(inputs: Inputs) -> Manifest:
    """From the content of the dumps to the published KB."""
    options, draft, rejects, reporter = inputs.options, inputs.draft, inputs.rejects, inputs.reporter
    with reporter.stage("numbering items and statements"):
        items = inputs.items()
        current = revisions.current(items)
        rows = assemble.number(items, current.first)
    with reporter.stage("finding the kinds of items"):
        by_record = large.full(len(items.qid), NOT_ASKED, np.int8) if options.updatable else None
        if by_record is not None and KIND in inputs.spill.types and same_rules(options):
            known = inputs.spill.column(KIND)[: len(by_record)]
            by_record[: len(known)] = known
        of_items = item_kinds(items, rows, options.language, options.keep == PEOPLE, by_record)
        if by_record is not None:
            inputs.spill.replace(KIND, by_record)
            inputs.content.types[KIND] = inputs.spill.types[KIND]
        rows = assemble.select(rows, of_items, options.keep)
        stated = assemble.state(items, rows)
    wikipedia = inputs.wikipedia(rows.entity_qids)
    names, words = _index(inputs, items, rows, stated, wikipedia, of_items)
    with reporter.stage("publishing"):
        draft.write_blocks(REJECTS, [rejects.lines()])
        if options.updatable:
            spill = inputs.spill
            draft.files |= {spill.path(name).name: spill.digest(name) for name in inputs.content.types}
        times = [Path(dump).stat().st_mtime for dump in options.dumps if dump != STDIN]
        days = [datetime.fromtimestamp(time, UTC).date().isoformat() for time in times]
        of_pages = "none" if wikipedia.ranks is None else f"computed from {options.wikipedia}"
        computed = {"wikidata": "computed", "wikipedia": of_pages}
        manifest = Manifest(
            format_version=FORMAT_VERSION,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            dumps=[*(options.base[1].dumps if options.base else ()), *options.dumps],
            dump_date=max([*days, (options.base and options.base[1].dump_date) or ""]) or None,
            keep=options.keep,
            language=options.language.name,
            words_how=options.words,
            ranks=[f"{source}: {options.ranks.get(source, computed[source])}" for source in SOURCES],
            entities=len(rows.entity_item),
            people=int(items.person[rows.entity_dump].sum()),
            kinds=count_kinds(KBColumns(Columns(draft.folder)).kind),
            items=len(rows.item_qids),
            statements=len(stated.statements.values),
            names=names,
            words=words,
            rejected=len(rejects),
            rejected_reasons=dict(rejects.reasons.most_common()),
            superseded=len(items.qid) - int(current.first.sum()),
            dates_dropped=inputs.content.dates_dropped,
            **revisions.history(options, items, inputs.content, current),
        )
        if options.base is not None:
            from namesake.kb.own.merge import apply  # which builds a small KB itself

            manifest = apply(draft, manifest, read_records(options.base[0]))
        return draft.publish(manifest)


def count_kinds(of_entities: Int8) -> dict[str, int]:
    """The number of entities of each kind that there are, by its name."""
    counts = np.bincount(of_entities, minlength=len(kinds()))
    return {kind.name: int(count) for kind, count in zip(kinds(), counts, strict=True) if count}


def _index(
    inputs: Inputs, items: Items, rows: Numbering, stated: Statements, wikipedia: Wikipedia, of_items: Int8
) -> tuple[int, int]:
    """Build everything that follows from items and statements; returns the numbers of names and words."""
    options, draft, of_entities = inputs.options, inputs.draft, of_items[rows.entity_item]
    of_entities[of_entities >= len(kinds())] = OTHER  # such as a gene, which is kept with all items
    is_person, used = of_entities == PERSON, stated_by(stated, len(of_items))
    fame = all_fame(items, rows, is_person, stated.statements.indptr, used)
    teams = assemble.stating(items, rows, (LEAGUE, SPORT))
    left = unchanged(options, rows)
    others = Others(~is_person, teams, fame, *assemble.stated_texts(stated, DEMONYM))

    def names() -> int:
        labels = items.label.take(rows.entity_dump)
        entity_names = EntityNames.of(options.language, labels, *assemble.entity_aliases(items, rows))
        non_people = non_people_names(items, rows, of_items, used)
        draft.write_all(build_non_people(non_people))
        made = build_names(entity_names, non_people.texts, left and KnownNames(left, len(entity_names)))
        prefixes, size = made.pop(NameColumns.prefixes), len(made[NameColumns.texts])
        sitelinks = large.taken(items.sitelinks, rows.entity_dump)
        draft.write_all(made)
        draft.write_all(build_misspellings(made[NameColumns.texts], made[NameColumns.entities], sitelinks))
        del labels, made  # their files take disk space
        known = left and KnownForms(left, is_person, used[rows.entity_item], stated.statements)
        entries = FormEntries(len(entity_names.texts), known)
        tokens = list_forms(entity_names, is_person, fame, prefixes, entries)
        list_other_forms(entity_names, others, prefixes, entries)
        draft.write(NameColumns.prefixes, prefixes)
        draft.write_all(entries.columns() | count_tokens(tokens, prose_of(items, rows.first)))
        return size

    def words() -> int:
        own = items.description.take(rows.entity_dump), wikipedia.paragraphs
        made = index_kb_words(items, rows.dump_of, stated, own, options, left and left.old)
        draft.write_all(made)
        return len(made[KBColumns.words])

    def entities() -> None:
        draft.write_all({KBColumns.kind: of_entities, KBColumns.fame: fame.astype(np.float32)})
        draft.write_all({KBColumns.paragraphs: wikipedia.paragraphs})
        draft.write_all({KBColumns.used: used[rows.entity_item].astype(np.int32)})
        for column, value in assemble.pick(items, rows):
            draft.write(column, value)
        aliases, alias_texts = assemble.entity_aliases(items, rows)
        draft.write_all({KBColumns.aliases: aliases, KBColumns.alias_texts: alias_texts})
        draft.write_all({KBColumns.declared()[name]: column for name, column in vars(stated).items()})
        draft.write_all(assemble.item_columns(items, rows))

    def ranks() -> None:
        loaded = {source: read_ranks(file, rows.entity_qids) for source, file in options.ranks.items()}
        if "wikidata" not in loaded:
            loaded["wikidata"] = pagerank(assemble.links(items, rows))[rows.entity_item]
        unknown = np.zeros(len(of_entities), np.float64)
        of_pages = loaded.get("wikipedia", unknown if wikipedia.ranks is None else wikipedia.ranks)
        draft.write_all({KBColumns.pagerank_wikidata: loaded["wikidata"], KBColumns.pagerank_wikipedia: of_pages})

    parts: dict[str, Callable[[], int | None]] = {
        "indexing words": words,
        "indexing names": names,
        "ranking items": ranks,
        "writing entities": entities,
    }
    counts = _build_parts(parts, draft, options.workers, inputs.reporter)
    derive_all(draft)
    unmade = [column.file for column in columns().values() if not draft.holds(column)]
    assert not unmade, f"declared in layout.py but not built: {unmade}"
    return counts["indexing names"] or 0, counts["indexing words"] or 0


def _build_parts(
    parts: Mapping[str, Callable[[], int | None]], draft: Draft, workers: int, reporter: Reporter
) -> dict[str, int | None]:
    """Build the parts, by their messages, together in memory or one by one in files, except those already finished."""
    known = draft.stages
    counts = {name: known[name].facts for name in parts if name in known}
    left = {name: part for name, part in parts.items() if name not in known}
    if large.room().folder is None:
        with reporter.stage("indexing names and words, ranking items"):
            made = in_order(lambda part: part(), left.values(), workers)  # compiled code, which releases the GIL
            return counts | dict(zip(left, made, strict=True))
    for name, part in left.items():
        before = set(draft.files)
        with reporter.stage(name):
            counts[name] = part()
        written = {file: digest for file, digest in draft.files.items() if file not in before}
        draft.note(Stage(name, counts[name], written))
        large.give_back()
    return counts

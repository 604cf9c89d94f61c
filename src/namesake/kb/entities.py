"""The columns of a KB that are a matter of picking rows: entities, items, properties, statements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from namesake.kb.assemble import Numbering, Statements
from namesake.kb.columns import Column, Ragged, Strings
from namesake.kb.items import Items, ranges, running
from namesake.kb.wikipedia import Wikipedia
from namesake.kernels.columns import bitmap

PLAIN = ("sitelinks", "properties", "person", "birth", "birth_precision", "death", "death_precision")


@dataclass(frozen=True)
class EntityTexts:
    """The texts of the entities, by their rows."""

    labels: Strings
    descriptions: Strings
    titles: Strings
    paragraphs: Strings
    aliases: Ragged
    alias_texts: Strings

    @staticmethod
    def of(items: Items, rows: Numbering, wikipedia: Wikipedia | None) -> EntityTexts:
        """Pick the entities' texts from those of the dump."""
        dump = rows.entity_dump
        counts = np.diff(items.alias_indptr)[dump]
        aliases = items.alias.take(ranges(items.alias_indptr[dump], counts))
        return EntityTexts(
            labels=items.label.take(dump),
            descriptions=items.description.take(dump),
            titles=items.title.take(dump),
            paragraphs=wikipedia.paragraphs if wikipedia else Strings.empty(len(dump)),
            aliases=Ragged(running(counts), np.arange(len(aliases), dtype=np.int32)),
            alias_texts=aliases,
        )


def entity_columns(items: Items, rows: Numbering, texts: EntityTexts) -> dict[str, Column]:
    """Everything that has a row an entity and needs no thought."""
    dump = rows.entity_dump
    plain: dict[str, Column] = {f"entity.{name}": getattr(items, name)[dump] for name in PLAIN}
    bits, before = qid_bitmap(rows.entity_qids)
    return plain | {
        "entity.qid": rows.entity_qids,
        "entity.qid_bits": bits,
        "entity.qid_before": before,
        "entity.item": rows.entity_item,
        "entity.description": texts.descriptions,
        "entity.title": texts.titles,
        "entity.paragraph": texts.paragraphs,
        "entity.alias": texts.aliases,
        "alias": texts.alias_texts,
    }


def qid_bitmap(qids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    """A set of QIDs as a bitmap with running counts, from which `KB.rows` reads a QID's row."""
    bits = np.zeros(int(qids.max(initial=0)) // 64 + 1, np.uint64)
    bitmap.add_all(bits, qids)
    return bits, bitmap.count_before(bits)


def item_columns(items: Items, rows: Numbering) -> dict[str, Column]:
    """Items and properties with their labels; of a property that occurs twice, the first."""
    properties, first = np.unique(items.property_id, return_index=True)
    return {
        "item.qid": rows.item_qids,
        "item.label": items.label.take(rows.dump_of),
        "property.id": properties,
        "property.label": items.property_label.take(first),
    }


def statement_columns(stated: Statements) -> dict[str, Column]:
    """Pairs, who states them, and when."""
    return {
        "entity.statement": stated.of_entity,
        "pair.property": stated.pair_property,
        "pair.value": stated.pair_value,
        "pair.count": stated.pair_count,
        "tenure.entity": stated.tenure_entity,
        "tenure.pair": stated.tenure_pair,
        "tenure.start": stated.tenure_start,
        "tenure.end": stated.tenure_end,
        "string": stated.strings,
    }

"""A slow and obvious reader of Wikidata entities: json.loads, dicts, datetime, and the list of deciding properties."""

import json
import re
from calendar import monthrange
from datetime import date

from namesake.kinds import deciding_bits

MISSING = -(2**31)
LITERALS = {569: ("time", "time"), 577: ("time", "time"), 625: ("globecoordinate", "")}
BEGINS, ENDS = {571, 1619, 577, 580, 585, 729}, {576, 582, 730}
LANGUAGES = ("en", "mul", "en-gb", "en-ca")
MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def entity(line: bytes, keep_all: bool) -> dict | None:
    """What is to be kept of an item; None for a property or a lexeme."""
    record = json.loads(line)
    if not record["id"].startswith("Q"):
        return None
    claims = {int(name[1:]): valued(said) for name, said in dict(record.get("claims") or {}).items()}
    dropped: list[str] = []
    edges = [(of, value(one["mainsnak"], of), one) for of, said in claims.items() for one in said]
    person = any(of == 31 and said == 5 for of, said, _ in edges)
    kept = person or keep_all
    labels = [text(record, "labels", code) for code in LANGUAGES]
    label = next((name for name in labels if name), "")
    descriptions = [text(record, "descriptions", code) for code in LANGUAGES]
    titles = dict(record.get("sitelinks") or {})
    return {
        "qid": int(record["id"][1:]),
        "person": person,
        "kept": kept,
        "label": label,
        "description": next((said for said in descriptions if said), ""),
        "title": whole(titles.get("enwiki", {}).get("title", "")) if kept else "",
        "aliases": other_names(record, labels, label),
        "sitelinks": len(titles),
        "properties": sum(1 for said in claims.values() if said),
        "statements": statements(edges, kept, dropped),
        "birth": life_date(claims, 569, BEGINS, person, dropped),
        "death": life_date(claims, 570, ENDS, person, dropped),
        "dates_dropped": len(dropped),
        "population": population(claims.get(1082, [])),
        "deciding": deciding(claims),
        "revision": revision(record.get("lastrevid")),
    }


def revision(given: object) -> int:
    """The number of a revision, of at most 18 digits; 0 if it is something else."""
    return int(json.dumps(given)) if re.fullmatch(r"[0-9]{1,18}", json.dumps(given)) else 0


def life_date(claims: dict[int, list[dict]], of_life: int, others: set[int], person: bool, dropped: list[str]):
    """The date of birth or death; of an item that is not a person, else the first of the best rank of the others."""
    found = best_date(claims.get(of_life, []), dropped)
    said = [one for of, some in claims.items() if of in others for one in some]
    return found if person or found != best_date([], []) else best_date(said, [])


def deciding(claims: dict[int, list[dict]]) -> int:
    """A bit for each property that decides a kind and has a value of its type."""
    found = 0
    for of, bit in deciding_bits().items():
        said = [one["mainsnak"] for one in claims.get(of, [])]
        values = [one.get("datavalue", {}) for one in said]
        if of == 1082:
            right = [population(claims.get(of, []))]
        elif of in LITERALS:
            kind, key = LITERALS[of]
            right = [one for one in values if one.get("type") == kind and (not key or key in dict(one["value"]))]
        else:
            right = [one for one in map(value, said) if isinstance(one, int)]
        found |= any(right) << bit
    return found


def population(said: list[dict]) -> int:
    """The largest whole and positive number of inhabitants that 31 bits hold."""
    quantities = [
        one["mainsnak"]["datavalue"] for one in said if one["mainsnak"]["datavalue"].get("type") == "quantity"
    ]
    values = [one["value"] for one in quantities]
    amounts = [str(value.get("amount")) for value in values if isinstance(value, dict)]
    numbers = [int(amount) for amount in amounts if re.fullmatch(r"\+[1-9][0-9]*", amount)]
    return max((number for number in numbers if number < 2**31), default=0)


def whole(text: str) -> str:
    """Lone surrogates become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text(record: dict, part: str, code: str) -> str:
    return whole(dict(record.get(part) or {}).get(code, {}).get("value", ""))


def other_names(record: dict, labels: list[str], label: str) -> list[str]:
    aliases = dict(record.get("aliases") or {})
    names = [whole(alias.get("value", "")) for code in LANGUAGES for alias in aliases.get(code, [])] + labels
    found: list[str] = []
    for name in names:
        if name and name != label and name not in found:
            found.append(name)
    return found


def valued(said: list[dict]) -> list[dict]:
    return [one for one in said if one["mainsnak"]["snaktype"] == "value" and one.get("rank") != "deprecated"]


def value(snak: dict, of: int = 0) -> int | str | None:
    """A QID, a string that is no identifier, a demonym in one of the languages, or None."""
    kind, said = snak.get("datavalue", {}).get("type"), snak.get("datavalue", {}).get("value")
    if kind == "string" and snak.get("datatype", "string") == "string":
        return whole(said) if isinstance(said, str) else None
    if kind == "monolingualtext" and of == 1549 and isinstance(said, dict):
        texts = said.get("text"), said.get("language")
        return whole(texts[0]) if isinstance(texts[0], str) and texts[1] in LANGUAGES else None
    if kind != "wikibase-entityid" or not isinstance(said, dict) or said.get("entity-type", "item") != "item":
        return None
    name = str(said["id"] if "id" in said else f"Q{said.get('numeric-id')}")
    return int(name[1:]) if re.fullmatch(r"Q[1-9]\d{0,9}", name) and int(name[1:]) < 2**31 else None


def statements(edges: list, kept: bool, dropped: list[str]) -> list[tuple]:
    """With the days on which they hold; those of an item that is not kept are its undated edges to other items."""
    found: list[tuple] = []
    for of, said, one in edges:
        if said is None or (isinstance(said, str) and not kept):
            continue
        qualifiers = dict(one.get("qualifiers") or {}) if kept else {}
        since, until = (first_time(qualifiers.get(name, []), dropped) for name in ("P580", "P582"))
        found.append((of, said, since[0], last_of_period(*until)))
    return found


def first_time(snaks: list[dict], dropped: list[str]) -> tuple[int, int]:
    for snak in snaks:
        if snak["snaktype"] == "value" and snak.get("datavalue", {}).get("type") == "time":
            day = when(snak, dropped)
            if day:
                return day
    return MISSING, 0


def best_date(said: list[dict], dropped: list[str]) -> tuple[int, int]:
    times = [one for one in said if one["mainsnak"].get("datavalue", {}).get("type") == "time"]
    dated = [(one.get("rank") == "preferred", when(one["mainsnak"], dropped)) for one in times]
    for preferred in (True, False):
        for better, day in dated:
            if day and better == preferred:
                return day
    return MISSING, 0


def when(snak: dict, dropped: list[str]) -> tuple[int, int] | None:
    said = snak["datavalue"]["value"]
    day = first_of_period(said["time"], said["precision"])
    if day is None:
        dropped.append(said["time"])
    return day


def first_of_period(time: str, precision: int) -> tuple[int, int] | None:
    """First day and precision, with Python's own calendar moved by whole cycles of 400 years."""
    match = re.match(r"([+-])(\d+)-(\d\d)-(\d\d)T", time)
    if not match or not 1 <= precision <= 14:
        return None
    number, month, day = int(match[2]), int(match[3]), int(match[4])
    year = number if match[1] == "+" else 1 - number
    if not 1 <= number <= 200_000 or month > 12 or day > 31:
        return None
    precision = min(precision, 11 if month and day else 10 if month else 9)
    if precision == 11 and day > MONTH_DAYS[month - 1]:
        return None
    if precision == 11:
        try:
            return ordinal(year, month, day), 11
        except ValueError:  # 29 February of a common year
            return (ordinal(year, month, 1), 10) if year % 4 == 0 else None
    if precision == 10:
        return ordinal(year, month, 1), 10
    if precision == 8:
        decade = [y for y in range(year - 9, year + 1) if decade_of(y) == decade_of(year)]
        return ordinal(decade[0], 1, 1), 8
    while precision in (6, 7) and (year - 1) % (100 if precision == 7 else 1000):
        year -= 1
    return ordinal(year, 1, 1), precision


def last_of_period(first: int, precision: int) -> int:
    """The last day: that before the next period of this precision begins, by Python's own calendar."""
    if first == MISSING or precision > 10:
        return first
    cycles = first // 146_097
    begins = date.fromordinal(date(1970, 1, 1).toordinal() + first - 146_097 * cycles)
    year = begins.year + 400 * cycles
    if precision == 10:
        return first + monthrange(begins.year, begins.month)[1] - 1
    last = year
    if precision == 8:
        last = max(y for y in range(year, year + 10) if decade_of(y) == decade_of(year))
    if precision in (6, 7):
        last = year + (99 if precision == 7 else 999)
    return ordinal(last, 12, 31)


def decade_of(year: int) -> tuple[bool, int]:
    """Whether it is before year 1, and the tens of its number: the 40s BCE are 49 to 40."""
    return year < 1, (year if year > 0 else 1 - year) // 10


def ordinal(year: int, month: int, day: int) -> int:
    cycles = (year - 2000) // 400
    return (date(year - 400 * cycles, month, day) - date(1970, 1, 1)).days + 146_097 * cycles

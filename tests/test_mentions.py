"""Names in raw text: found as a reader would, and exactly as the slow finder finds them."""

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_mentions as oracle
import oracle_tokens
from few_people import SmallKB
from namesake.articles.schema import ARTICLES, MENTION
from namesake.kb.columns.column_files import Strings
from namesake.kb.columns.layout import MAN, WOMAN
from namesake.kb.names.normalise import normalise
from namesake.kernels.kinds import ORGANISATION, OTHER, PLACE
from namesake.kernels.names.constants import RULES
from namesake.kernels.names.cut import cut
from namesake.kernels.names.tokens import room_for_tokens, style_of
from namesake.language import English
from namesake.names.detect import Found, find, group_spans
from namesake.names.evidence import GIVEN
from namesake.names.mentions import faults, found_mentions, mentions_of
from namesake.names.tables import tables
from oracle_known import Known, token_key

PEOPLE = {
    "Barack Obama": (200.0, ["President Obama", "President Barack Obama", "Obama"]),
    "Michelle Obama": (90.0, []),
    "Bernie Sanders": (80.0, []),
    "Bernard Shaw": (90.0, []),
    "Hilary Swank": (90.0, []),
    "Walt Disney": (150.0, []),
    "Calvin Klein": (40.0, []),
    "J. K. Rowling": (140.0, ["Joanne Rowling"]),
    "Robert Downey Jr.": (90.0, []),
    "Marine Le Pen": (70.0, []),
    "Jean-Marie Le Pen": (60.0, []),
    "Gaël Clichy": (30.0, []),
    "Conan O'Brien": (50.0, []),
    "Artem Oganov": (0.3, []),
    "Will Young": (25.0, []),
    "Common Sense": (0.3, []),
    "George H. W. Bush": (140.0, []),
    "Prime Minister": (0.3, []),
    "Pope Francis": (150.0, []),
    "Андрей Рублёв": (60.0, []),
    "The Weeknd": (80.0, []),
    "Ban Ki-moon": (110.0, []),
    "Charles II of England": (90.0, []),
    "Charles IV, Holy Roman Emperor": (70.0, ["Charles of Luxembourg"]),
    "Rihanna": (156.0, []),
    "Mohammed bin Salman": (80.0, ["MBS"]),
    "Bashar al-Assad": (120.0, ["Assad"]),
    "Frank Wilczek": (70.0, []),
    "Frank Sinatra": (120.0, []),
    "Frank Zappa": (90.0, []),
    "Siméon Denis Poisson": (60.0, []),
    "Andy Murray": (80.0, []),
    "Bill Murray": (90.0, []),
    "Hillary Clinton": (130.0, []),
    "Bill Clinton": (160.0, ["President Clinton"]),
    "Bill Gates": (150.0, []),
    "Bill Haley": (60.0, []),
    "Andy Warhol": (120.0, []),
    "Andy Garcia": (50.0, []),
    "Andy Serkis": (50.0, []),
    "Andy Roddick": (50.0, []),
    "Andy Carroll": (50.0, []),
    "Sam Houston": (60.0, []),
    "Due Process": (30.0, []),
    "will.i.am": (60.0, []),
    "Justin Bieber": (130.0, []),
    "Valéry Giscard d'Estaing": (90.0, []),
    "Chaos": (20.0, []),
    "John McCain": (100.0, []),
    "Bernard Kerik": (0.3, []),
    "Theresa May": (90.0, []),
    "Whitney Houston": (90.0, []),
    "Plan Beta": (60.0, []),
    "Beatrice Plan": (60.0, []),
    "Virgil": (200.0, []),
    "Virgil Abloh": (40.0, []),
    "Virgil Trucks": (30.0, []),
    "Virgil Goode": (10.0, []),
    "Winslow Homer": (80.0, []),
    "Ellen van Dijk": (30.0, []),
    "Van Morrison": (90.0, []),
    "Leonardo da Vinci": (240.0, []),
    "John F. Kennedy": (200.0, ["JFK"]),
    "Robert F. Kennedy": (120.0, []),
    "Magic Pete Zork": (90.0, ["CIA"]),
    "Volodymyr Zelenskyi": (200.0, ["Volodymyr Zelenskyy"]),
    "Xi Jinping": (190.0, []),
    "Max Planck": (60.0, []),
}
THINGS = {
    "Houston": (170.0, PLACE),
    "Texas": (200.0, PLACE),
    "Andy Warhol Foundation": (5.0, ORGANISATION),
    "Republican": (60.0, OTHER),
    "Paris": (250.0, PLACE),
    "Due Process": (200.0, OTHER),
    "Poisson effect": (2.0, OTHER),
    "Bill and Hillary Clinton": (3.0, OTHER),
    "JFK": (50.0, PLACE),
    "CIA": (40.0, ORGANISATION),
}
PROSE = ["common sense", "the sense of it", "a common thing", "the prime minister", "will", "young people", "of the"]
PROSE += ["chaos and chaos in chaos of chaos", "a plan to plan the plan"]


@pytest.fixture(scope="module")
def kb() -> SmallKB:
    return SmallKB(PEOPLE, THINGS, PROSE, GENDER)


def in_text(kb: SmallKB, text: str) -> list[tuple[str, list[str], str]]:
    """How each mention was found, its spans as text, and the label of its first candidate."""
    asked = Strings.of([text])
    found = find(kb, asked.data, asked.offsets)
    spans = [text[start:end] for start, end in found.spans]
    return [
        (
            RULES[found.evidence.rule[m]],
            spans[found.span_indptr[m] : found.span_indptr[m + 1]],
            kb.labels[found.rows[found.offsets[m]]],
        )
        for m in range(len(found))
    ]


GENDER = {"Barack Obama": MAN, "Michelle Obama": WOMAN, "Bill Clinton": MAN, "Andy Murray": MAN}
BARACK, MICHELLE, BILL, HILLARY = "Barack Obama", "Michelle Obama", "Bill Clinton", "Hillary Clinton"


@pytest.mark.parametrize(
    ("text", "people"),
    [
        # full names
        (
            "Barack Obama met Bernie Sanders.",
            [("exact", [BARACK], BARACK), ("exact", ["Bernie Sanders"], "Bernie Sanders")],
        ),
        ("President Barack Obama spoke; Barack waved.", [("exact", [BARACK, "Barack"], BARACK)]),
        ("barack obama , he said . obama left .", [("exact", ["barack obama", "obama"], BARACK)]),
        ("BARACK OBAMA WINS AGAIN, OBAMA SAYS", [("exact", ["BARACK OBAMA", "OBAMA"], BARACK)]),
        ("seen with J.K. Rowling, of course", [("exact", ["J.K. Rowling"], "J. K. Rowling")]),
        ("seen with J. K. Rowling, of course", [("exact", ["J. K. Rowling"], "J. K. Rowling")]),
        ("seen with JK Rowling, of course", [("exact", ["JK Rowling"], "J. K. Rowling")]),
        ("said robert downey jr. yesterday", [("exact", ["robert downey jr"], "Robert Downey Jr.")]),
        ("Robert Downey, Jr. came. Downey left.", [("exact", ["Robert Downey, Jr", "Downey"], "Robert Downey Jr.")]),
        ("Gae\u0308l Clichy, GAËL CLICHY", [("exact", ["Gae\u0308l Clichy", "GAËL CLICHY"], "Gaël Clichy")]),
        ("Conan O’Brien’s show, O'Brien said", [("exact", ["Conan O’Brien", "O'Brien"], "Conan O'Brien")]),
        ("President George H.W. Bush went", [("exact", ["George H.W. Bush"], "George H. W. Bush")]),
        ("Андрей Рублёв выиграл. Рублёв рад.", [("exact", ["Андрей Рублёв", "Рублёв"], "Андрей Рублёв")]),
        ("Barack\nObama", [("exact", ["Barack\nObama"], BARACK)]),
        ('<a title="Barack Obama">Barack Obama</a>', [("exact", [BARACK], BARACK)]),
        ("Will Young sang.", [("exact", ["Will Young"], "Will Young")]),
        (
            "he saw will.i.am and Justin bieber",
            [("exact", ["will.i.am"], "will.i.am"), ("exact", ["Justin bieber"], "Justin Bieber")],
        ),
        ("Valery Giscard d'Estaing", [("exact", ["Valery Giscard d'Estaing"], "Valéry Giscard d'Estaing")]),
        # kings
        ("King Charles II of England died.", [("exact", ["Charles II of England"], "Charles II of England")]),
        (
            "Emperor Charles IV lived. Charles died.",
            [("exact", ["Charles IV", "Charles"], "Charles IV, Holy Roman Emperor")],
        ),
        ("Charles IV, Duke of Nowhere, lived.", []),
        # no people
        ("it is common sense , he said", []),
        ("the prime minister met the Prime Minister", []),
        ("The Walt Disney Company grew. Walt Disney Co. fell.", []),
        ("Walt Disney drew. The Walt Disney Company grew.", [("exact", ["Walt Disney"], "Walt Disney")]),
        ("walt disney studios said", []),
        ("Walt Disney High School and the Walt Disney Performing Arts Center", []),
        ("Calvin Klein owner PVH and Calvin Klein shares fell", []),
        ("The Andy Warhol Foundation gave.", []),
        ("the Obama family, the Obamas, Obama Technologies", []),
        ("Houston, Texas, grew", []),
        # short forms
        ("Barack Obama spoke. Mr. Obama left.", [("exact", [BARACK, "Obama"], BARACK)]),
        ("Obama's speech: Barack Obama's best.", [("exact", ["Obama", BARACK], BARACK)]),
        (
            "Barack Obama and Michelle Obama. Barack sat, Obama stood.",
            [("exact", [BARACK, "Barack"], BARACK), ("exact", [MICHELLE], MICHELLE), ("shared", ["Obama"], MICHELLE)],
        ),
        ("Marine Le Pen lost, and Le Pen knows.", [("exact", ["Marine Le Pen", "Le Pen"], "Marine Le Pen")]),
        (
            "Jean-Marie Le Pen, or Jean-Marie for short",
            [("exact", ["Jean-Marie Le Pen", "Jean-Marie"], "Jean-Marie Le Pen")],
        ),
        ("Ban Ki-moon left. Ban spoke.", [("exact", ["Ban Ki-moon", "Ban"], "Ban Ki-moon")]),
        ("Bashar al-Assad left. Assad spoke.", [("exact", ["Bashar al-Assad", "Assad"], "Bashar al-Assad")]),
        (
            "Andy Murray beat Bill Murray. A. Murray won.",
            [("exact", ["Andy Murray", "A. Murray"], "Andy Murray"), ("exact", ["Bill Murray"], "Bill Murray")],
        ),
        ("Ann Marie Obama met Barack Obama", [("exact", [BARACK], BARACK)]),
        # words more, words less
        ("Artem R. Oganov found it. Oganov is here.", [("dropped", ["Artem R. Oganov", "Oganov"], "Artem Oganov")]),
        ("Frank Anthony Wilczek", [("dropped", ["Frank Anthony Wilczek"], "Frank Wilczek")]),
        ("Siméon Poisson", [("wide", ["Siméon Poisson"], "Siméon Denis Poisson")]),
        ("Bill and Hillary Clinton", [("company", ["Bill"], BILL), ("exact", [HILLARY], HILLARY)]),
        ("Murray, Andy", [("reversed", ["Murray, Andy"], "Andy Murray")]),
        ('Simeon "Bill" Gates spoke', [("nicknamed", ['Simeon "Bill" Gates'], "Bill Gates")]),
        ('John (Bill) Haley and Mark "Hank" Clinton', [("nicknamed", ["John (Bill) Haley"], "Bill Haley")]),
        ("Bernard Sanders spoke", [("spelled", ["Bernard Sanders"], "Bernie Sanders")]),
        (
            "Justin Beiber and Hilary Clinton",
            [("spelled", ["Justin Beiber"], "Justin Bieber"), ("spelled", ["Hilary Clinton"], HILLARY)],
        ),
        ("Bill Gates met the other Bill Gates.", [("exact", ["Bill Gates"], "Bill Gates")] * 2),
        ("R. Downey met M. Le Pen and Z. Downey.", [("one", ["R. Downey"], "Robert Downey Jr.")]),
        (
            "she met A. Murray and B. Murray, and saw A. Murray play",
            [("one", ["A. Murray"] * 2, "Andy Murray"), ("one", ["B. Murray"], "Bill Murray")],
        ),
        (
            "written by MURRAY A., CLINTON B, Obama B and PLAN B, ROWLING Z",
            [("one", ["MURRAY A"], "Andy Murray"), ("one", ["CLINTON B"], BILL)],
        ),
        ("by OBAMA B", [("one", ["OBAMA B"], BARACK)]),
        ("Bernie Kerik spoke", [("spelled", ["Bernie Kerik"], "Bernard Kerik")]),
        # the surname of somebody whom the text names in another way than the KB
        ("Siméon Poisson wrote. Poisson died.", [("wide", ["Siméon Poisson", "Poisson"], "Siméon Denis Poisson")]),
        ("Bernard Sanders ran; Sanders lost.", [("spelled", ["Bernard Sanders", "Sanders"], "Bernie Sanders")]),
        (
            "Bernard Sanders met Ann Zork Sanders. Sanders left.",
            [("spelled", ["Bernard Sanders", "Sanders"], "Bernie Sanders")],
        ),
        # months and places
        ("Theresa May won. May spoke in May, on 3 May and May 4.", [("exact", ["Theresa May", "May"], "Theresa May")]),
        (
            "Whitney Houston sang in Houston. Houston left.",
            [("exact", ["Whitney Houston", "Houston"], "Whitney Houston"), ("one", ["Houston"], "Whitney Houston")],
        ),
        ("Whitney Houston sang in Houston's style.", [("exact", ["Whitney Houston", "Houston"], "Whitney Houston")]),
        # headlines
        ("Obama Slams Clinton Over Veto\nHe said no.", [("one", ["Obama"], BARACK), ("one", ["Clinton"], BILL)]),
        ("Obama Slams Clinton Over Veto", []),
        ("OBAMA SLAMS CLINTON OVER VETO", [("one", ["OBAMA"], BARACK), ("one", ["CLINTON"], BILL)]),
        # things
        ("Sam Houston lived near Due Process.", [("exact", ["Sam Houston"], "Sam Houston")]),
        ("the Poisson effect of Poisson", [("one", ["Poisson"], "Siméon Denis Poisson")]),
        ("Bieber shares fell. Bieber said so.", []),
        # parts of longer names that the KB does not have
        ("Virgil van Dijk headed the equaliser.", []),
        (
            "the poet Virgil, van Dijk and da Vinci",
            [
                ("one", ["Virgil"], "Virgil"),
                ("one", ["van Dijk"], "Ellen van Dijk"),
                ("one", ["da Vinci"], "Leonardo da Vinci"),
            ],
        ),
        (
            "Leonardo da Vinci met Virgil and Homer",
            [
                ("exact", ["Leonardo da Vinci"], "Leonardo da Vinci"),
                ("one", ["Virgil"], "Virgil"),
                ("one", ["Homer"], "Winslow Homer"),
            ],
        ),
        ("Virgil de retour, Virgil in Paris", [("one", ["Virgil", "Virgil"], "Virgil")]),
        ("Captain Virgil van Dijk scored. Virgil smiled, and Van Dijk left.", []),
        ("Captain Rihanna de la Cruz scored.", []),
        ("Zork van Virgil and Zork van Dijk left", []),
        ("The Virgil van Dijk Foundation gave.", []),
        ("Virgil Abloh met Virgil van Dijk.", [("exact", ["Virgil Abloh"], "Virgil Abloh")]),
        ("Winslow Homer met Homer van Meter.", [("exact", ["Winslow Homer"], "Winslow Homer")]),
        ("What did Rihanna do Monday?", [("one", ["Rihanna"], "Rihanna")]),
        # initials, other transliterations, surnames that come first
        (
            "They met JFK, MBS and CIA men.",
            [("one", ["JFK"], "John F. Kennedy"), ("one", ["MBS"], "Mohammed bin Salman")],
        ),
        ("They met Jfk.", []),
        (
            "Zelensky met V. Zelenskij and Zalensky.",
            [("one", ["Zelensky"], "Volodymyr Zelenskyi"), ("one", ["V. Zelenskij"], "Volodymyr Zelenskyi")],
        ),
        ("President Zelensky met Zelenska.", [("titled", ["Zelensky"], "Volodymyr Zelenskyi")]),
        ("President Xi met Dr. Max.", [("titled", ["Xi"], "Xi Jinping"), ("one", ["Max"], "Max Planck")]),
        # quotations
        ('"No," Chaos said. "No." Chaos left.', [("one", ["Chaos"], "Chaos")]),
        ("“No,” Chaos said. “No.” Chaos left.", [("one", ["Chaos"], "Chaos")]),
        # families
        ("Barack Obama left. The Obamas moved on.", [("exact", [BARACK, "Obamas"], BARACK)]),
        ("Before the Bushes: George H.W. Bush", [("exact", ["Bushes", "George H.W. Bush"], "George H. W. Bush")]),
        ("Barack Obama and Michelle Obama: the Obamas.", [("exact", [n], n) for n in (BARACK, MICHELLE)]),
        ("Ann and Barack Obama: the Obamas.", [("exact", [BARACK], BARACK)]),
        ("Barack Obama met Obamas, the Obamas Family and the obamas.", [("exact", [BARACK], BARACK)]),
        # titles
        (
            "French President Obama met House Minister Sanders.",
            [("titled", ["Obama"], BARACK), ("titled", ["Sanders"], "Bernie Sanders")],
        ),
        ("President Obama spoke. Obama left.", [("titled", ["Obama", "Obama"], BARACK)]),
        (
            "Hillary Clinton met Mrs. Clinton and President Clinton.",
            [("exact", [HILLARY, "Clinton"], HILLARY), ("titled", ["Clinton"], BILL)],
        ),
        ("Pope Francis. Francis said", [("titled", ["Francis", "Francis"], "Pope Francis")]),
        # one word
        ("he met with Obama and Clinton", [("one", ["Obama"], BARACK), ("one", ["Clinton"], BILL)]),
        ("Republican McCain met Rihanna", [("one", ["McCain"], "John McCain"), ("one", ["Rihanna"], "Rihanna")]),
        (
            "bin Salman and al-Assad",
            [("one", ["bin Salman"], "Mohammed bin Salman"), ("one", ["al-Assad"], "Bashar al-Assad")],
        ),
        ("Chaos reigned", []),
        ("a Republican-friendly Republican-mccain", []),
        ("in Paris", []),
        ("Zork Sanders came. Sanders left.", [("one", ["Sanders"], "Bernie Sanders")]),
        ("Andy Sanders came. Sanders left.", []),
        ("", []),
        ("…!? ' <", []),
        ("村上春樹は言った。", []),
    ],
)
def test_what_a_reader_finds(kb: SmallKB, text: str, people: list[tuple[str, list[str], str]]) -> None:
    assert in_text(kb, text) == people


@pytest.mark.parametrize(
    ("text", "his", "hers"),
    [
        ("Obama said he won. Obama said she won.", ["Obama"], ["Obama"]),
        ("Mr. Obama left. Mrs. Obama smiled.", ["Obama"], ["Obama"]),
        ("Mr Obama and Mrs Obama left.", ["Obama"], ["Obama"]),
        ("Obama, who was late, said that he was sorry.", ["Obama"], []),
    ],
)
def test_a_sentence_tells_whose_surname_it_is(kb: SmallKB, text: str, his: list[str], hers: list[str]) -> None:
    found = in_text(kb, f"Barack Obama came with Michelle Obama. {text}")
    spans = {who: spans[1:] for _, spans, who in found}
    assert (spans[BARACK], spans[MICHELLE]) == (his, hers)


def shared_in(kb: SmallKB, text: str) -> list[tuple[str, dict[str, float]]]:
    """The surnames of a text that several people share: first span, and the quality of each candidate."""
    asked = Strings.of([text])
    found = find(kb, asked.data, asked.offsets)
    shared = np.flatnonzero(found.evidence.rule == RULES.index("shared"))
    ends = zip(found.offsets[shared].tolist(), found.offsets[shared + 1].tolist(), strict=True)
    candidates = [{kb.labels[found.rows[k]]: round(float(found.quality[k]), 2) for k in range(*both)} for both in ends]
    first = [found.spans[found.span_indptr[m]].tolist() for m in shared]
    return [(text[start:end], who) for (start, end), who in zip(first, candidates, strict=True)]


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("Barack Obama came with Michelle Obama. Obama left.", [("Obama", {MICHELLE: 1.0, BARACK: 1.0})]),
        ("Barack Obama came. Michelle Obama left. Obama waved.", [("Obama", {MICHELLE: 1.0, BARACK: 0.9})]),
        (
            "Barack Obama came with Michelle Obama. Obama said Bill Gates thought he was late.",
            [("Obama", {MICHELLE: 1.0, BARACK: 1.0})],  # he is Gates
        ),
        ("Barack Obama met Michelle Obama. Obama left. He was sorry.", [("Obama", {MICHELLE: 1.0, BARACK: 1.0})]),
        ("Barack Obama met Michelle Obama. Obama met him.", [("Obama", {MICHELLE: 1.0, BARACK: 1.0})]),
        ("Barack Obama came with Michelle Obama. Obama said she left.", []),
        ("Barack Obama left. Obama waved. Michelle Obama came.", []),  # nobody else was named before
        ("They saw Bill and Hillary Clinton, and Clinton left.", [("Clinton", {HILLARY: 1.0, BILL: 1.0})]),
        ("Bill Murray beat Andy Murray. B. Murray won.", []),
        (
            "Marine Le Pen met Jean-Marie Le Pen. Le Pen left. Mr. Le Pen left.",
            [("Le Pen", {"Jean-Marie Le Pen": 1.0, "Marine Le Pen": 1.0})],
        ),
        (
            "Hillary Clinton met Bill Clinton, and President Clinton spoke of Clinton.",
            [("Clinton", {BILL: 1.0, HILLARY: 1.0})],  # President Clinton is Bill
        ),
        ("George H. W. Bush is George H.W. Bush. Bush left.", []),
    ],
)
def test_a_surname_that_several_people_share(
    kb: SmallKB, text: str, shared: list[tuple[str, dict[str, float]]]
) -> None:
    assert shared_in(kb, text) == shared


@pytest.mark.parametrize("names", ["Hillary Clinton met Bill Clinton", "Bill Clinton met Hillary Clinton"])
def test_strangers_with_a_shared_surname_are_counted_by_the_commonest_first_name(kb: SmallKB, names: str) -> None:
    asked = Strings.of([f"{names}. Clinton left."])
    found = find(kb, asked.data, asked.offsets)
    assert RULES[found.evidence.rule[2]] == "shared"
    assert found.evidence.first[2] == sum(label.startswith("Bill ") for label in PEOPLE)
    assert found.evidence.last[2] == sum(label.endswith(" Clinton") for label in PEOPLE)


def test_somebody_of_unknown_gender_is_rather_meant_than_one_of_the_other(kb: SmallKB) -> None:
    found = in_text(kb, "Hillary Clinton met Bill Clinton. Clinton said she would run.")
    assert [(who, spans[1:]) for _, spans, who in found] == [(HILLARY, ["Clinton"]), (BILL, [])]


@pytest.mark.parametrize(
    ("text", "credited"),
    [
        ("By Barack Obama", True),
        ("It was won by Barack Obama", False),
        ("Photo by Bill Gates and Barack Obama, Monday", True),
        ("(Reporting by Barack Obama; Editing by x)", True),
        ("Prices rose; editing by Barack Obama", True),
        ("It is a song written by Barack Obama", False),
        ("Photo: Barack Obama\n\nPrices rose.", True),
        ("Photo: Barack Obama won", False),
        ("He won: Barack Obama", False),
        ("Barack Obama/AP", True),
        ("Barack Obama/Getty Images", True),
        ("REUTERS/Barack Obama", True),
        ("Barack Obama/Bill Clinton", False),
        ("Barack Obama / AP", False),
    ],
)
def test_bylines_and_credits(kb: SmallKB, text: str, credited: bool) -> None:
    asked = Strings.of([text])
    found = find(kb, asked.data, asked.offsets)
    told = {kb.labels[found.rows[found.offsets[m]]]: bool(found.evidence.byline[m]) for m in range(len(found))}
    assert told[BARACK] is credited


Seen = tuple[int, list[tuple[int, int]], list[tuple[int, float]], list[float]]
SHARES, NUMBERS = (
    ("goes_on", "comes", "suffix"),
    ("best", "bearers", "lower", "place", "role", "title", "byline", "thing", "other"),
)


def as_lists(found: Found, text: int) -> list[Seen]:
    """Rule, spans, candidates and evidence of a text's mentions."""
    evidence = found.evidence
    return [
        (
            int(evidence.rule[m]),
            [tuple(span) for span in found.spans[found.span_indptr[m] : found.span_indptr[m + 1]].tolist()],
            [
                (int(found.rows[k]), round(float(found.quality[k]), 5))
                for k in range(found.offsets[m], found.offsets[m + 1])
            ],
            [round(float(getattr(evidence, name)[m]), 2) for name in SHARES + NUMBERS],
        )
        for m in range(found.indptr[text], found.indptr[text + 1])
    ]


def slowly(finder: oracle.Finder, text: str, head: int = 0) -> list[Seen]:
    return [
        (
            m.rule,
            [(finder.tokens[a].start, finder.tokens[b - 1].end) for a, b in sorted(m.at.items())],
            [(row, round(quality, 5)) for row, quality in finder.candidates(m).items()],
            [round(m.counts[name] / max(1, m.counts["full"]), 2) for name in SHARES]
            + [round(float(np.float32(m.evidence[name])), 2) for name in NUMBERS],
        )
        for m in finder.find(text, head)
    ]


def assert_bytes_match(found: Found, place: int, text: str) -> None:
    """The byte spans of a text are its spans in characters."""
    first, last = found.span_indptr[found.indptr[place : place + 2]]
    ends = [[len(text[:end].encode()) for end in span] for span in found.spans[first:last].tolist()]
    assert found.byte_spans[first:last].tolist() == ends


WORDS = [word for name, (_, others) in PEOPLE.items() for form in (name, *others) for word in form.split()]
WORDS += [word for name in THINGS for word in name.split()]
WORDS += [
    "the",
    "of",
    "Mr.",
    "Inc.",
    "Company",
    "High",
    "School",
    "said",
    "R.",
    "x",
    "é",
    "'s",
    "’s",
    "<b>",
    "50",
    "will",
    "Jr.",
    "King",
    "Pope",
    "president",
    "in",
    "to",
    "By",
    "and",
    "II",
]
WORDS += ["JFK", "Zelensky", "Zelensky", "Zelenskii", "CIA", "de", "do"]
WORDS += [
    "van",
    "al-",
    "Technologies",
    "owner",
    "family",
    "Duke",
    "Reporting",
    "by",
    "A.",
    "d'Estaing",
    '"Bill"',
    "based",
    "ki-moon",
    "St.",
    "Houston-based",
    "Obamas",
    "Murrays",
    "OBAMA",
    "B",
    "Photo:",
    "AP",
    "Reuters",
    "Bernie",
    "Mrs.",
    "he",
    "she",
    "herself",
    "Mister",
]
GAPS = [" "] * 14 + [
    ", ",
    ". ",
    "-",
    "\n",
    "\n\n",
    "'s ",
    " — ",
    "",
    " . ",
    "’s ",
    "é",
    "王",
    "/",
    ": ",
    ".",
    " (",
    ") ",
    ' "',
    '" ',
]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=25)
texts = texts.map(lambda pairs: "".join(word + gap for word, gap in pairs))
texts = texts | texts.map(str.lower) | texts.map(str.upper)


@pytest.fixture(scope="module")
def finder(kb: SmallKB) -> oracle.Finder:
    return oracle.Finder(Known(kb))


@pytest.mark.kernel
@given(some=st.lists(texts | st.text(max_size=20), max_size=3))
def test_the_kernel_finds_what_the_slow_finder_finds(kb: SmallKB, finder: oracle.Finder, some: list[str]) -> None:
    for behind in ([], ["x" * 100]):  # words near the end of the data are read in another way
        column = Strings.of(some + behind)
        found = find(kb, column.data, column.offsets)
        for place, text in enumerate(some):
            readable = text.encode("utf-8", "replace").decode()
            assert as_lists(found, place) == slowly(finder, readable)
            assert_bytes_match(found, place, readable)


@pytest.mark.kernel
@given(some=st.lists(st.tuples(st.none() | texts | texts.map(str.title) | st.text(max_size=9), texts), max_size=3))
def test_titles_are_read_with_their_texts_and_told_apart(
    kb: SmallKB, finder: oracle.Finder, some: list[tuple[str | None, str]]
) -> None:
    readable = [(t and t.encode("utf-8", "replace").decode(), text) for t, text in some]
    titles, column = pa.array([t for t, _ in readable], pa.string()), pa.array([t for _, t in readable])
    found = found_mentions(column.cast(pa.large_string()), kb, titles)
    m = 0
    for title, text in readable:
        head = f"{title}\n\n" if title else ""
        for rule, spans, candidates, _ in slowly(finder, head + text, len(head)):
            assert found.evidence.rule[m] == rule
            assert found.rows[found.offsets[m] : found.offsets[m + 1]].tolist() == [row for row, _ in candidates]
            below = [[start - len(head), end - len(head)] for start, end in spans if start >= len(head)]
            assert found.span_lists[m].as_py() == below
            assert found.spans[found.span_indptr[m] : found.span_indptr[m + 1]].tolist() == below
            in_bytes = found.byte_spans[found.span_indptr[m] : found.span_indptr[m + 1]].tolist()
            assert in_bytes == [[len(text[:end].encode()) for end in span] for span in below]
            above = [[start, end] for start, end in spans if start < len(head)]
            assert found.title_lists[m].as_py() == (above or None)
            m += 1
    assert m == len(found)


@pytest.mark.parametrize(
    ("title", "text", "wanted"),
    [
        ("Judge Blocks Obama Order", "Barack Obama met him.", [("Barack Obama", [[0, 12]], [[13, 18]])]),
        ("Joanne Rowling met him", "Rowling was ill.", [("Joanne Rowling", [[0, 7]], [[0, 14]])]),
        ("Barack Obama met him", "", [("Barack Obama", [], [[0, 12]])]),
        ("BARACK OBAMA MET HIM", "é barack obama", [("BARACK OBAMA", [[2, 14]], [[0, 12]])]),
        ("Barack Obama", "barack obama was ill. " + 20 * "he lay in bed. ", [("Barack Obama", [[0, 12]], [[0, 12]])]),
        ("Barack", "Obama was ill.", [("Barack", [], [[0, 6]])]),
        ("Éric met Barack Obama,", "Obama", [("Barack Obama", [[0, 5]], [[9, 21]])]),
    ],
)
def test_what_a_reader_finds_in_a_title(
    kb: SmallKB, title: str, text: str, wanted: list[tuple[str, list[list[int]], list[list[int]]]]
) -> None:
    found = found_mentions(pa.array([text], pa.large_string()), kb, pa.array([title]))
    lists = zip(found.names.to_pylist(), found.span_lists.to_pylist(), found.title_lists.to_pylist(), strict=True)
    assert [one for one in lists if one[0] != "Obama"] == wanted


def style(text: str) -> int:
    """How a text is written, by the kernels."""
    column, most = Strings.of([text]), len(text) + 2
    tokens = room_for_tokens(most)
    return style_of(tokens.bits, 0, cut(column.data, 0, len(column.data), tables(English), tokens, most))


LONG_TEXTS = st.lists(
    st.sampled_from(
        [
            *(
                "Ann",
                "bob",
                "J",
                "R",
                "a",
                "I",
                "Mr",
                "Jr",
                "St",
                "McDONALD",
                "x1",
                "3",
                "internationalisation",
                "A" * 70,
            ),
            *("O'Neil", "Bob's", "don't", "É", "Zoë", "naïve", "l’été", "Kim’s", "“", "”", "``", "''", "--", "—", "…"),
            *(
                " ",
                " ",
                " ",
                " ",
                "  ",
                "\n",
                "\n\n",
                "\t",
                ".",
                ". ",
                ", ",
                "-",
                "'",
                "’",
                "<b>",
                "</p>",
                "<",
                "&",
                "'s ",
            ),
        ]
    ),
    max_size=120,
).map("".join)


def cut_into(text: str, most: int, behind: str) -> list[tuple[int, ...]]:
    """The tokens of a text by the kernel: place, hash, gap and bits. `behind` is the text that follows in memory."""
    column, tokens = Strings.of([text, behind]), room_for_tokens(most)
    count = cut(column.data, 0, column.offsets[1], tables(English), tokens, most)
    columns = tokens.starts, tokens.ends, tokens.hashes, tokens.gaps, tokens.bits
    return [tuple(map(int, row)) for row in zip(*(column[:count] for column in columns), strict=True)]


@pytest.mark.kernel
@given(LONG_TEXTS | texts, st.integers(1, 40))
def test_the_kernel_cuts_a_text_as_loops_over_characters_do(text: str, most: int) -> None:
    starts = np.cumsum([0, *(len(character.encode()) for character in text)])
    wanted = [
        (
            *(starts[token.start], starts[token.end], token_key(token.text), token.gap),
            token.capital | 2 * token.initials | 4 * token.upper | 8 * token.dotted | 16 * token.text[0].isdigit(),
        )
        for token in oracle_tokens.Tokeniser(text).run()
    ]
    found = cut_into(text, len(text) + 2, 20 * "Zz 'zz")
    assert [(*token[:4], token[4] & 31) for token in found] == wanted
    assert cut_into(text, len(text) + 2, "") == found
    assert cut_into(text, most, "")[: most - 1] == found[: most - 1]


@pytest.mark.kernel
@given(texts | st.text(max_size=20))
def test_the_kernel_reads_capitals_as_the_slow_finder_does(text: str) -> None:
    assert style(text) == oracle_tokens.style_of(
        oracle_tokens.Tokeniser(text.encode("utf-8", "replace").decode()).run()
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Barack Obama met him.", oracle_tokens.CASED),
        ("barack obama met him.", oracle_tokens.LOWER),
        ("BARACK OBAMA MET HIM", oracle_tokens.UPPER),
        ("", oracle_tokens.CASED),
    ],
)
def test_capitals_decide_how_a_text_is_read(text: str, wanted: int) -> None:
    assert style(text) == wanted


def test_candidates_come_with_their_quality(kb: SmallKB) -> None:
    asked = Strings.of(["Joanne Rowling met Artem R. Oganov at the Walt Disney Company."])
    found = find(kb, asked.data, asked.offsets)
    assert [kb.labels[row] for row in found.rows] == ["J. K. Rowling", "Artem Oganov"]
    assert found.quality.tolist() == pytest.approx([0.95, 0.9])
    assert found.offsets.tolist() == [0, 1, 2]


def test_given_and_found_mentions_stand_in_the_order_of_their_articles(kb: SmallKB) -> None:
    given = [{"name": "X", "spans": [[0, 1]], "candidates": ["Q20", "Q7"]}, {"name": "Walt Disney", "spans": [[1, 5]]}]
    rows = [
        {"id": "a", "text": "Barack\nObama. Walt Disney Company.", "title": "É: Obama spoke", "mentions": None},
        {"id": "b", "text": "é Barack Obama", "title": "Barack Obama", "mentions": given},
        {"id": "c", "text": "nobody", "mentions": None},
        {"id": "d", "text": "nobody", "mentions": []},
        {"id": "e", "text": "é Artem R. Oganov and Oganov", "mentions": None},
    ]
    mentions = mentions_of(pa.Table.from_pylist(rows, schema=ARTICLES), kb, "never")
    assert mentions.articles.tolist() == [0, 1, 3, 3, 3, 4]
    assert mentions.names.to_pylist() == ["Barack Obama", "X", "Walt Disney", "Artem R. Oganov"]
    assert mentions.found.tolist() == [True, False, False, True]
    assert [RULES[rule] if rule != GIVEN else "given" for rule in mentions.evidence.rule] == [
        "exact", "given", "given", "dropped",
    ]  # fmt: skip
    assert mentions.span_lists.to_pylist() == [[[0, 12]], [[0, 1]], [[1, 5]], [[2, 17], [22, 28]]]
    assert mentions.title_lists.to_pylist() == [[[3, 8]], None, None, None]
    assert mentions.spans.tolist() == [[0, 12], [0, 1], [1, 5], [2, 17], [22, 28]]
    assert mentions.byte_spans.tolist() == [[0, 12], [0, 2], [2, 6], [3, 18], [23, 29]]
    assert mentions.span_indptr.tolist() == [0, 1, 2, 3, 5]
    assert mentions.offsets.tolist() == [0, 1, 3, 4, 5]
    assert mentions.qids.tolist() == [10, 20, 7, 60, 140]
    assert mentions.rows.tolist() == [0, 1, -1, 5, 13]
    assert mentions.quality.tolist() == pytest.approx([1, np.nan, np.nan, 1, 0.9], nan_ok=True)
    assert faults(mentions, pa.chunked_array([pa.array([r["mentions"] for r in rows], pa.list_(MENTION))])) == {}


def test_spans_of_another_detector_become_names() -> None:
    text = "Barack Obama met Ann Lee. Obama and Lee talked; Dr. Lee Wu left. OBAMA"
    spans = [
        (text.index(word), text.index(word) + len(word)) for word in ("Barack Obama", "Ann Lee", "Obama and", "OBAMA")
    ]
    spans[2] = (26, 31)
    assert group_spans(text, spans) == [("Barack Obama", [(0, 12), (26, 31), (65, 70)]), ("Ann Lee", [(17, 24)])]
    assert group_spans("", []) == []


@pytest.mark.parametrize(
    "word", ["Barack Obama ", "Obama ", "a. ", "<", "'", "’s ", "Barack\u0301", "\u00ad", "J. ", "Will "]
)
def test_very_long_and_odd_texts(kb: SmallKB, word: str) -> None:
    text = word * 50_000
    asked = Strings.of([text, "Barack Obama"])
    found = find(kb, asked.data, asked.offsets)
    assert [(rule, spans) for rule, spans, _, _ in as_lists(found, 1)] == [(0, [(0, 12)])]
    assert (found.spans <= len(text)).all()


def test_a_text_may_have_more_names_than_capitals(kb: SmallKB, finder: oracle.Finder) -> None:
    surnames = ["obama", "sanders", "disney", "klein", "rowling", "murray", "clinton", "gates", "haley", "warhol"]
    text = "The " + " ".join(f"vice-president-{surname}" for surname in surnames)
    asked = Strings.of([text])
    found = as_lists(find(kb, asked.data, asked.offsets), 0)
    assert found == slowly(finder, text)
    assert len(found) > 8


def test_the_paper_s_articles_read_as_slowly(shared: Path) -> None:
    """On real text, of all phases, with the names Quotebank lists as the dictionary."""
    with gzip.open(shared / "quotebank" / "articles.jsonl.gz") as lines:
        articles = [json.loads(line) for line in lines][::10]
    names = sorted({name["name"] for article in articles for name in article["names"]})
    kb = SmallKB({name: (float(len(name)), []) for name in names}, THINGS, PROSE)
    column, finder = Strings.of(article["content"] for article in articles), oracle.Finder(Known(kb))
    found = find(kb, column.data, column.offsets)
    for place, article in enumerate(articles):
        assert as_lists(found, place) == slowly(finder, article["content"])
        assert_bytes_match(found, place, article["content"])


def named_in(documents: list[dict]) -> tuple[dict[str, tuple[float, list[str]]], dict[str, tuple[float, int]]]:
    """Everybody and everything that labelled documents name: by their longest name, with the others as aliases."""
    names: dict[str, Counter[str]] = {}
    person = {}
    for label in (label for document in documents for label in document["labels"] if label["qid"]):
        names.setdefault(label["qid"], Counter())[label["name"]] += 1
        person[label["qid"]] = label["type"] == "PER"
    people: dict[str, tuple[float, list[str]]] = {}
    things: dict[str, tuple[float, int]] = {}
    for qid, forms in names.items():
        longest, fame = max(forms, key=len), 10.0 * forms.total()
        if person[qid]:
            people[longest] = (fame, [form for form in forms if form != longest])
        else:
            things |= {form: (fame, PLACE) for form in forms if normalise(form)}
    return people, things


def test_labelled_texts_read_as_slowly(shared: Path) -> None:
    """On news, talk, tweets and old newspapers, with all that their labels name as the KB."""
    documents = []
    for path in sorted((shared / "people").glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            documents += [json.loads(line) for line in lines][::25]
    kb = SmallKB(*named_in(documents), PROSE)
    texts = [document["text"][:20_000] for document in documents]
    column, finder = Strings.of(texts), oracle.Finder(Known(kb))
    found = find(kb, column.data, column.offsets)
    for place, text in enumerate(texts):
        assert as_lists(found, place) == slowly(finder, text)
        assert_bytes_match(found, place, text)
    rules = {RULES[rule] for rule in found.evidence.rule.tolist()}
    assert rules >= {"exact", "titled", "wide", "one"}

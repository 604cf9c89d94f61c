"""Link names in a spaCy pipeline, and draw the links for a browser. Needs the extra `spacy`.

Run: python examples/in_spacy.py [KB]
"""

import sys

from namesake.apps.sample_kb import sample_kb
from namesake.errors import lacking

try:
    import spacy
    from spacy import displacy
except ImportError:
    print(lacking("this example needs", "spaCy", "spacy"), file=sys.stderr)
    sys.exit(2)

TEXTS = [
    "Michael Jordan, the basketball player, met Scottie Pippen.",
    "Neil Armstrong, Buzz Aldrin and Michael Collins flew to the Moon.",
]


def main() -> None:
    nlp = spacy.blank("en")  # with a model that has an entity recogniser, its people are linked
    nlp.add_pipe("namesake", config={"kb": sys.argv[1] if len(sys.argv) > 1 else str(sample_kb())})
    docs = list(nlp.pipe(TEXTS))
    for doc in docs:
        for ent in doc.ents:
            print(ent.text, ent.kb_id_, ent._.namesake.candidates[0].description)
    page = displacy.render(
        docs, style="ent", page=True, options={"kb_url_template": "https://www.wikidata.org/wiki/{}"}
    )
    print(f"{len(page)} characters of HTML with {page.count('wikidata.org')} links")


if __name__ == "__main__":
    main()

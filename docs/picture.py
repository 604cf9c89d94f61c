"""Draw docs/images/demo.svg: real output of the shipped recipe on the embedded sample. Run: python docs/picture.py."""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from namesake import KB, Linker
from namesake.apps.sample_kb import sample_kb
from namesake.apps.terminal.explanations import linked_text, show_explanation
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles
from namesake.sample import ARTICLES

PROMPT = "bold magenta"


def draw(out: Path) -> None:
    """One article with its links, and why one of them is what it is."""
    linker = Linker(KB.open(sample_kb()))
    [articles] = read_articles(ARTICLES, Rejects())
    one = articles.filter([identifier == "amazon-pilots" for identifier in articles.column("id").to_pylist()])
    console = Console(record=True, width=96, file=StringIO(), force_terminal=True)
    console.print(Text("$ namesake link amazon-pilots.txt", PROMPT))
    console.print(linked_text(one.to_pylist()[0]["text"], linker.link(one).to_pylist()))
    console.print()
    console.print(Text('$ namesake explain articles.jsonl --article amazon-pilots --name "Chris Carter"', PROMPT))
    explained = linker.explain(one, "Chris Carter")
    best = explained.filter([rank <= 2 for rank in explained.column("rank").to_pylist()])
    show_explanation(one, best, console)
    out.parent.mkdir(exist_ok=True)
    svg = console.export_svg(title="namesake")
    out.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL))  # no fonts from elsewhere


if __name__ == "__main__":
    draw(Path(__file__).parent / "images" / "demo.svg")

"""Link the names in a text: one line per name, with the confidence, and the reason for NIL.

Run: python examples/link_text.py [KB]
"""

import sys

from namesake import Linker
from namesake.apps.sample_kb import sample_kb

TEXT = (
    "Michael Jordan led the Chicago Bulls to another basketball title, and Scottie Pippen was not far behind. "
    "In the crowd was David Mitchell, a baker."
)


def main() -> None:
    linker = Linker(sys.argv[1] if len(sys.argv) > 1 else sample_kb())
    for link in linker.link_text(TEXT, date="1996-06-17"):
        places = ", ".join(f"{start}–{end}" for start, end in link.spans)
        who = f"{link.qid} {link.description}" if link.qid else f"NIL: {link.reason}"
        print(f"{link.name} ({places}): {who}, confidence {link.confidence:.0%}")


if __name__ == "__main__":
    main()

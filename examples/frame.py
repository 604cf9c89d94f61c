"""Link a data frame of articles: one row per name, with the frame's own columns. Polars works as well as pandas.

Needs the extra `pandas`. Run: python examples/frame.py [KB]
"""

import sys

import namesake
from namesake.apps.sample_kb import sample_kb
from namesake.errors import lacking

try:
    import pandas as pd
except ImportError:
    print(lacking("this example needs", "pandas", "pandas"), file=sys.stderr)
    sys.exit(2)

NEWS = pd.DataFrame(
    {
        "url": ["x/1", "x/2"],
        "body": [
            "Michael Jordan and Scottie Pippen won another basketball title for Chicago.",
            "Imran Khan, the actor, plays with Sonam Kapoor in a new film.",
        ],
        "desk": ["sports", "culture"],
    }
)


def main() -> None:
    linker = namesake.Linker(sys.argv[1] if len(sys.argv) > 1 else sample_kb())
    links = namesake.link_frame(NEWS, linker=linker, text="body", id="url")
    print(links[["article_id", "desk", "name", "qid", "confidence"]].to_string(index=False))


if __name__ == "__main__":
    main()

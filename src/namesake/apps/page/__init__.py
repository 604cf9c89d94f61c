"""The page at `/`: a text goes in, its names come back marked, each with why.

What a server has to do is little, so that any can: answer `GET` of each path in `FILES` with its media type and bytes,
and `POST /draw`, whose body is the JSON object `{"text": …, "title": …, "date": …, "mention": …}` (all but the text may
be missing or null), with `draw(linker, text, title, date, mention)` as JSON. A `NamesakeError` becomes status 422 and
`{"error": …, "what_to_do": …}`, which the page shows; so does any other status with such a body.

The page needs no other address, and this policy is enough: `default-src 'none'; script-src 'self'; style-src 'self';
img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`.
"""

from namesake.apps.page.draw import draw
from namesake.apps.page.files import FILES

__all__ = ["FILES", "draw"]

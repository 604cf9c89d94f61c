"""Take docs/images/page.png: the page with one name of the sample explained. Run: python docs/page_picture.py.

Needs a Chromium on the path, and the extras `dev` and `web`.
"""

import shutil
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import msgspec
from playwright.sync_api import sync_playwright

from namesake import Linker
from namesake.apps.sample_kb import sample_kb
from namesake.apps.server.page_api import FILES, draw

SAMPLE, NAME = "Labour defends its majority in the Vale", "John Smith"


class Handler(BaseHTTPRequestHandler):
    """The page's files, and `draw`."""

    linker = Linker(sample_kb())

    def do_GET(self) -> None:
        """A file of the page."""
        self._answer(*FILES[self.path])

    def do_POST(self) -> None:
        """A text, drawn."""
        asked = msgspec.json.decode(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer("application/json", msgspec.json.encode(draw(self.linker, **asked)))

    def log_message(self, *args: object) -> None:
        """Nothing: the picture is what counts."""

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)


def take(out: Path) -> None:
    """Serve the page, choose the sample and the name, and keep what is seen."""
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        page.get_by_role("button", name=SAMPLE).click()
        page.locator("#marked .name", has_text=NAME).first.click()
        page.locator(".candidate").first.wait_for()
        page.screenshot(path=out)
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    take(Path(__file__).parent / "images" / "page.png")

"""A real Chromium for tests, and what is checked of every page: contrast, labels, nothing wider than the screen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]

_CONTRAST = """() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    const most = text.startsWith("color(srgb") ? 255 : 1; // what color-mix() gives
    return {r: r * most, g: g * most, b: b * most, a}; };
  const light = ({r, g, b}) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a === 1) return colour;
    }
    return {r: 255, g: 255, b: 255};
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    const box = node.getBoundingClientRect();
    if (!walk.currentNode.data.trim() || !box.width || !box.height || node.closest("script, style, noscript")) continue;
    const style = getComputedStyle(node);
    const ink = node.closest("svg") ? parse(style.fill) : parse(style.color);
    const [high, low] = [light(ink), light(ground(node))].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) faint.push(`${walk.currentNode.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return faint;
}"""

_UNLABELLED = """() => [...document.querySelectorAll("input, textarea, select, button, a, [tabindex], svg[role=img]")]
  .filter((node) => node.getBoundingClientRect().width)
  .filter((node) => !(node.labels?.length || node.getAttribute("aria-label") || node.getAttribute("aria-labelledby")
    || node.textContent.trim()))
  .map((node) => node.outerHTML.slice(0, 80))"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser that the machine has; the test is skipped where it has none."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium on the path: get one, such as `apt-get install chromium`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def faint_texts(page: Page) -> list[str]:
    """Texts that stand out from their ground by less than WCAG's 4.5 to 1."""
    found: list[str] = page.evaluate(_CONTRAST)
    return found


def unlabelled(page: Page) -> list[str]:
    """What can be used but has no name that a screen reader could say; and two elements with one id."""
    found: list[str] = page.evaluate(_UNLABELLED)
    ids: list[str] = page.evaluate("() => [...document.querySelectorAll('[id]')].map((node) => node.id)")
    return found + [f"id {one} twice" for one in set(ids) if ids.count(one) > 1]


def overflow(page: Page) -> list[int]:
    """How many pixels the page is wider than the screen, if any."""
    sizes: Any = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    return [sizes[0] - sizes[1]] if sizes[0] > sizes[1] else []

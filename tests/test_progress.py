"""What a build says while it works: a line per minute in logs, a bar on terminals."""

import io

import pytest

from namesake import progress


def test_one_line_per_minute_with_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    log = io.StringIO()
    lines = progress.reporter(log)
    with lines.stage("reading the dump"):
        for second in range(1, 151):
            now[0] = 1000.0 + second
            lines.advance(second / 600, 1000 * second)
    assert log.getvalue().splitlines() == [
        "reading the dump …",
        "reading the dump: 10 %, 60,000 items, 1,000/s, 0:09:00 left",
        "reading the dump: 20 %, 120,000 items, 1,000/s, 0:08:00 left",
    ]


def test_a_stream_of_unknown_length_has_no_percentage(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    log = io.StringIO()
    lines = progress.reporter(log)
    with lines.stage("reading Wikipedia"):
        now[0] = 100.0
        lines.advance(None, 5000, "pages")
    assert log.getvalue().splitlines()[1] == "reading Wikipedia: 5,000 pages, 50/s"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    screen = Screen()
    bar = progress.reporter(screen)
    with bar.stage("reading the dump"):
        now[0] = 42.0
        bar.advance(0.42, 1234)
        bar.say("removed something")
    shown = screen.getvalue()
    assert "reading the dump" in shown
    assert "42 %, 1,234 items, 29/s, 0:00:58 left" in shown
    assert "removed something" in shown

"""A stop is heard wherever it arrives."""

import gc
import os
import signal
import sys
import time

import pytest

from namesake.machine import stoppable


class Deaf:
    """Python only prints what goes wrong when it is thrown away, as in the compiler's call-backs."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)
        time.sleep(1)  # the signal arrives here


STOPS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)


@pytest.fixture(autouse=True)
def heed_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@STOPS
def test_a_stop_that_is_lost_comes_again(number, capfd):
    def work():
        Deaf(number)
        time.sleep(30)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), stoppable():
        work()
    assert time.monotonic() - began < 10
    assert capfd.readouterr().err == ""


@STOPS
def test_what_fails_of_a_lost_stop_is_the_stop(number, capfd):
    def work():
        Deaf(number)
        raise RuntimeError("no compiled object yet")

    with pytest.raises(KeyboardInterrupt), stoppable():
        work()
    assert capfd.readouterr().err == ""
    time.sleep(0.2)  # nothing comes after


def test_other_failures_stay_what_they_are():
    with pytest.raises(RuntimeError), stoppable():
        raise RuntimeError("a fault")


class HalfMade:
    """It fails when it is thrown away, if a stop came before it was whole."""

    def __init__(self, number: signal.Signals | None) -> None:
        if number is not None:
            os.kill(os.getpid(), number)
            time.sleep(1)
            self.whole = True

    def __del__(self) -> None:
        assert self.whole


@STOPS
def test_what_a_stop_left_half_made_says_nothing(number, capfd):
    def work():
        try:
            HalfMade(number)
        except KeyboardInterrupt:
            return "stopped"

    with stoppable():
        assert work() == "stopped"
        gc.collect()
    assert capfd.readouterr().err == ""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_fails_without_a_stop_is_printed(capfd, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    with stoppable():
        HalfMade(None)
    assert "AttributeError" in capfd.readouterr().err

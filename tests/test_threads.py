"""Work on several threads: results in order, few items at a time, and no thread left after an error."""

import threading
from itertools import count

import pytest

from namesake.machine import in_order


def test_results_are_in_order_and_few_items_wait():
    taken: list[int] = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    for done, result in enumerate(in_order(lambda number: number * number, items(), 3)):
        assert result == done * done
        assert len(taken) <= done + 6
    assert len(taken) == 50


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_work_arrives_in_its_place_and_ends_the_threads(threads):
    before = threading.active_count()
    results = in_order(lambda number: 6 // (3 - number), count(), threads)
    assert [next(results) for _ in range(3)] == [2, 3, 6]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert threading.active_count() == before


def test_a_caller_that_stops_early_ends_the_threads():
    before = threading.active_count()
    results = in_order(str, count(), 2)
    assert next(results) == "0"
    results.close()
    assert threading.active_count() == before

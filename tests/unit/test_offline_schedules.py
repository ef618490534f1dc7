"""Cron expressions from what is said of a time, and back into words."""

from __future__ import annotations

import pytest

from global_chat.offline.schedules import When, combined, cron_after, in_words

pytestmark = pytest.mark.unit

NINE = frozenset({(9, 0)})


@pytest.mark.parametrize(
    ("before", "when", "after"),
    [
        ("0 2 * * *", When(times=NINE), "0 9 * * *"),
        ("0 2 * * 1-5", When(times=NINE), "0 9 * * 1-5"),
        ("*/20 * * * *", When(times=NINE), "0 9 * * *"),
        ("0 2 * * *", When(times=frozenset({(6, 30), (18, 30)})), "30 6,18 * * *"),
        ("0 2 * * *", When(times=frozenset({(6, 30), (18, 0)})), None),
        ("0 2 * * *", When(every=(15, "minute")), "*/15 * * * *"),
        ("0 2 * * *", When(every=(7, "minute")), None),
        ("0 2 * * 1-5", When(every=(1, "hour")), "0 * * * *"),
        ("0 2 * * 1-5", When(every=(1, "hour"), same=True), "0 * * * 1-5"),
        ("0 2 * * *", When(every=(6, "hour"), minute=10), "10 */6 * * *"),
        ("*/30 * * * *", When(between=(8, 18)), "*/30 8-18 * * *"),
        ("0 2 * * *", When(between=(8, 18)), None),
        ("0 2 * * *", When(weekdays=frozenset({1})), "0 2 * * 1"),
        ("0 9 * * MON-FRI", When(more_days=frozenset({6})), "0 9 * * 1-6"),
        ("0 8 * * *", When(less_days=frozenset({0})), "0 8 * * 1-6"),
        ("0 1 5 * *", When(monthdays=frozenset({10})), "0 1 10 * *"),
        ("0 7 * * 1", When(monthdays=frozenset({1})), "0 7 1 * *"),
        ("0 1 5 * *", When(every=(1, "day")), "0 1 * * *"),
        ("0 2 * * *", When(times=NINE, old=When(times=frozenset({(2, 0)}))), "0 9 * * *"),
        ("0 14 * * *", When(times=NINE, old=When(times=frozenset({(2, 0)}))), "0 9 * * *"),
        ("0 3 * * *", When(times=NINE, old=When(times=frozenset({(2, 0)}))), None),
        (None, When(times=NINE), "0 9 * * *"),
        (None, When(weekdays=frozenset({1})), None),
        ("0 2 * * *", When(same=True), None),
    ],
)
def test_what_is_not_said_of_a_schedule_stays(before: str, when: When, after: str) -> None:
    assert cron_after(before, when) == after


def test_times_that_contradict_each_other_are_none() -> None:
    assert combined([When(every=(1, "hour")), When(every=(2, "hour"))]) is None
    assert combined([When(weekdays=frozenset({1})), When(times=NINE)]) == When(
        times=NINE, weekdays=frozenset({1})
    )


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 2 * * *", "every day at 02:00 (`0 2 * * *`)"),
        ("45 7 * * 1-5", "every weekday, Monday to Friday, at 07:45 (`45 7 * * 1-5`)"),
        ("*/20 * * * *", "every day, every 20 minutes (`*/20 * * * *`)"),
        ("15 */6 * * *", "every day, every 6 hours, 15 minutes past the hour (`15 */6 * * *`)"),
        ("0 1 5 * *", "on day 5 of every month at 01:00 (`0 1 5 * *`)"),
        ("0 7 * * MON", "every Monday at 07:00 (`0 7 * * MON`)"),
        ("@daily", "on the schedule `@daily`"),
    ],
)
def test_a_schedule_is_told_in_words(cron: str, words: str) -> None:
    assert in_words(cron) == words

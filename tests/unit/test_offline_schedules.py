"""Schedules in words become cron expressions, or are refused; nothing is guessed."""

from __future__ import annotations

from datetime import datetime

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.offline.language.folding import composed, folded
from global_chat.offline.language.schedules import read_schedule

pytestmark = pytest.mark.unit


def cron(text: str, current: str | None = None) -> str | None:
    read = read_schedule(folded(composed(text)), current)
    return read.cron if read else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("every 20 minutes", "*/20 * * * *"),
        ("hourly", "0 * * * *"),
        ("every other hour", "0 */2 * * *"),
        ("half-hourly please", "*/30 * * * *"),
        ("three times a day", "0 */8 * * *"),
        ("every day at noon", "0 12 * * *"),
        ("daily at 17:45", "45 17 * * *"),
        ("at a quarter past nine in the evening", "15 21 * * *"),
        ("weekdays at 6:30 am", "30 6 * * 1-5"),
        ("mondays and thursdays at 8", "0 8 * * 1,4"),
        ("every Sunday night at 11pm", "0 23 * * 0"),
        ("the 1st and 15th of each month at 5", "0 5 1,15 * *"),
        ("once an hour at minute 10", "10 * * * *"),
        ("every hour between 7 and 19", "0 7-19 * * *"),
        ("toutes les dix minutes", "*/10 * * * *"),
        ("chaque jour à 6h45", "45 6 * * *"),
        ("du lundi au vendredi à 18 heures", "0 18 * * 1-5"),
        ("le 10 de chaque mois à 8h", "0 8 10 * *"),
        ("à sept heures et demie du soir", "30 19 * * *"),
        ("cada 5 minutos", "*/5 * * * *"),
        ("todos los lunes a las 9 de la mañana", "0 9 * * 1"),
        ("a las diez y cuarto de la noche", "15 22 * * *"),
        ("el primer día del mes a las 3", "0 3 1 * *"),
        ("a cada 2 horas", "0 */2 * * *"),
        ("todas as noites às 23h", "0 23 * * *"),
        ("segundas e quartas às 14h30", "30 14 * * 1,3"),
        ("kila dakika 30", "*/30 * * * *"),
        ("kila siku saa nne asubuhi", "0 10 * * *"),
        ("kila ijumaa saa nane mchana", "0 14 * * 5"),
        ("kila siku saa sita usiku", "0 0 * * *"),
    ],
)
def test_a_time_in_words_is_what_it_says(text: str, expected: str) -> None:
    assert cron(text) == expected


@pytest.mark.parametrize(
    ("text", "current", "expected"),
    [
        ("at 7 please", "30 5 * * 1-5", "0 7 * * 1-5"),
        ("only on weekdays", "15 6 * * *", "15 6 * * 1-5"),
        ("not on weekends", "15 6 * * *", "15 6 * * 1-5"),
        ("also on sunday", "0 9 * * 1-5", "0 9 * * 0-5"),
        ("every day, weekends included", "0 9 * * 1-5", "0 9 * * *"),
        ("monthly instead of weekly", "0 7 * * 1", "0 7 1 * *"),
        ("not once a day but every 6 hours", "0 2 * * *", "0 */6 * * *"),
        ("at 10 instead of 9", "0 9 * * *", "0 10 * * *"),
        ("si kila jumatatu, iwe kila siku", "0 7 * * 1", "0 7 * * *"),
        ("plus tous les jours, seulement le lundi", "0 7 * * *", "0 7 * * 1"),
    ],
)
def test_what_is_not_said_stays_as_it_is(text: str, current: str, expected: str) -> None:
    assert cron(text, current) == expected


@pytest.mark.parametrize(
    "text",
    [
        "every 7 minutes",
        "every 45 minutes",
        "every 5 hours",
        "every two weeks",
        "on the last day of the month",
        "at 7 Nairobi time",
        "at 8 local time",
        "saa moja",
        "at 6:15 and 18:40",
    ],
)
def test_what_one_cron_expression_cannot_say_is_refused(text: str) -> None:
    read = read_schedule(folded(text))
    assert read is not None
    assert read.cron is None
    assert read.problem


@pytest.mark.parametrize(
    "text",
    ["rename this step to Map households", "set limit to 1000", "change 115 to 110", "is it on?"],
)
def test_a_text_without_a_time_is_no_schedule(text: str) -> None:
    assert read_schedule(folded(text)) is None


_SPOKEN = """
every each at on the of not instead 7 12 30 99 6:30 25:99 am pm minutes hours day week month monday
lundi viernes segunda jumatatu toutes les cada kila saa moja usiku midnight and to h first 31 1st -
weekends between , . noon quarter half past
"""
WORDS = st.sampled_from(_SPOKEN.split())


@given(st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=60))
@settings(max_examples=150)
def test_whatever_is_read_is_a_valid_expression(text: str) -> None:
    found = cron(text, "0 2 * * *")
    if found is not None:
        CronSim(found, datetime(2026, 1, 1))

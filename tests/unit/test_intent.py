"""A reply may remove or switch only what the request, in any of six languages, asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.workflow.merging.intent import read
from global_chat.workflow.parts import Step, Trigger

pytestmark = pytest.mark.unit

STEPS = (
    Step("fetch", "Fetch"),
    Step("fetch-2", "Fetch 2"),
    Step("Get-lookups", "Get lookups"),
    Step("Remove-duplicates", "Remove duplicates"),
    Step("a", "A"),
    Step("登録", "登録"),
    Step("Calculer-taux", "Calculer taux d'attaque"),
)
TRIGGERS = (Trigger("cron", "cron"), Trigger("sms-webhook", "webhook"))


@pytest.mark.parametrize(
    "request_text",
    [
        "remove archive payloads",
        "Delete the second one",
        "please drop it",
        "take the lookup step out",
        "get rid of the email",
        "we don't need the sms any more",
        "merge fetch and load into one",
        "use http instead of commcare there",
        "enlève l'étape d'envoi",
        "supprimer la notification",
        "quita el paso Get lookups y conecta",
        "borra la notificación",
        "remova o passo de envio",
        "exclua a etapa final",
        "ondoa hatua ya mwisho",
        "iondoe hatua hii",
        "entferne den letzten Schritt",
        "lösche die Benachrichtigung",
        "on n'a plus besoin de la notification",
        "ya no necesitamos el aviso",
        "não preciso mais do aviso",
        "den Schritt brauchen wir nicht mehr",
        "hatuhitaji hatua hii",
        "we don't use the sms any more",
        "the last one must go",
    ],
)
def test_a_removal_is_heard(request_text: str) -> None:
    assert read(request_text, STEPS).removes


@pytest.mark.parametrize(
    "request_text",
    [
        "add a step that posts to chat",
        "run it on Mondays at 7",
        "rename Remove duplicates to Dedupe",
        "add a log step after 'Remove duplicates', please do not remove anything",
        "ne supprime pas la notification, ajoute un log",
        "no borres nada, agrega un paso",
        "não remova o passo, só renomeie",
        "ajoute une étape à la fin",
        "do not kill the run when it fails",
        "ongeza hatua mpya",
        "",
    ],
)
def test_what_is_no_removal_is_not_taken_for_one(request_text: str) -> None:
    assert not read(request_text, STEPS).removes


@pytest.mark.parametrize(
    ("request_text", "named"),
    [
        ("remove Get lookups", {"Get-lookups"}),
        ("remove get_lookups!", {"Get-lookups"}),
        ("remove Fetch 2", {"fetch-2"}),
        ("remove fetch", {"fetch"}),
        ("remove prefetching", set()),
        ("add a step", set()),
        ("remove step a", {"a"}),
        ("remove 'A' please", {"a"}),
        ("このステップ登録を削除", {"登録"}),
        ("supprime calculer taux d’attaque", {"Calculer-taux"}),
    ],
)
def test_a_step_is_named_by_its_key_or_name_as_whole_words(
    request_text: str, named: set[str]
) -> None:
    assert read(request_text, STEPS).named == named


def test_a_step_goes_at_once_only_when_it_is_named() -> None:
    intent = read("remove Get lookups", STEPS)
    assert intent.may_remove_step("Get-lookups", None, confirmed=False)
    assert not intent.may_remove_step("fetch", None, confirmed=False)
    assert intent.may_remove_step("fetch", None, confirmed=True)


def test_the_open_step_goes_when_it_is_pointed_at_or_nothing_is_named() -> None:
    assert read("delete this step", STEPS).may_remove_step("fetch", "fetch", confirmed=False)
    assert read("delete", STEPS).may_remove_step("fetch", "fetch", confirmed=False)
    named = read("remove Get lookups", STEPS)
    assert not named.may_remove_step("fetch", "fetch", confirmed=False)


def test_confirming_does_not_help_where_no_removal_was_asked() -> None:
    intent = read("add a step after Fetch", STEPS)
    assert not intent.may_remove_step("fetch", "fetch", confirmed=True)
    assert not intent.may_remove_trigger("cron", confirmed=True)


def test_a_step_called_like_a_verb_does_not_speak_for_the_user() -> None:
    steps = (Step("delete", "Delete"), Step("load", "Load"))
    assert not read("add a step after Delete", steps).removes
    asked = read("delete Delete", steps)
    assert asked.may_remove_step("delete", None, confirmed=False)
    assert not asked.may_remove_step("load", None, confirmed=False)
    assert not read("delete Load", steps).may_remove_step("delete", None, confirmed=False)


@pytest.mark.parametrize(
    "request_text",
    [
        "switch the cron on",
        "turn it on",
        "turn the schedule on again",
        "enable the trigger",
        "activate this path",
        "switch on the path that leads to this step",
        "start the workflow again",
        "active le déclencheur",
        "réactive la planification",
        "activa el disparador",
        "ative o gatilho",
        "ligue o gatilho",
        "washa ratiba",
        "iwashe tena",
        "wezesha kichochezi",
        "schalte den Trigger ein",
        "aktiviere den Zeitplan",
    ],
)
def test_switching_on_is_heard(request_text: str) -> None:
    intent = read(request_text, STEPS, TRIGGERS)
    assert intent.switches_on
    assert not intent.switches_off


@pytest.mark.parametrize(
    "request_text",
    [
        "switch the cron off",
        "turn it off for now",
        "disable the trigger",
        "deactivate the schedule",
        "pause the workflow",
        "put the schedule on hold",
        "stop the cron",
        "the webhook should not be enabled",
        "désactive le déclencheur",
        "mets la planification en pause",
        "desactiva el disparador",
        "apaga el cron",
        "desative o gatilho",
        "desligue o agendamento",
        "zima ratiba",
        "simamisha mtiririko",
        "schalte den Trigger aus",
        "deaktiviere den Zeitplan",
    ],
)
def test_switching_off_is_heard(request_text: str) -> None:
    intent = read(request_text, STEPS, TRIGGERS)
    assert intent.switches_off
    assert not intent.switches_on


@pytest.mark.parametrize(
    "request_text",
    [
        "add a cleanup step at the end",
        "run it on Mondays at 7",
        "every night at 04:30",
        "turn the webhook into a cron on Mondays",
        "start it with a webhook instead",
        "instead of the webhook run it each day at 23:00",
        "lazima iendeshwe kila siku",
        "mara moja kwa mwezi, siku ya kwanza ya mwezi",
        "quiero que corra los lunes",
        "liga o passo Fetch ao passo Load",
        "ajoute un paso",
    ],
)
def test_what_is_no_switching_is_not_taken_for_it(request_text: str) -> None:
    intent = read(request_text, STEPS, TRIGGERS)
    assert not intent.switches_on
    assert not intent.switches_off


def test_a_path_that_is_switched_leaves_the_trigger_and_the_other_way_round() -> None:
    path = read("switch on the path that leads to this step", STEPS, TRIGGERS)
    assert path.may_switch(True, trigger=False)
    assert not path.may_switch(True, trigger=True)
    cron = read("switch the cron on", STEPS, TRIGGERS)
    assert cron.may_switch(True, trigger=True)
    assert not cron.may_switch(True, trigger=False)
    either = read("turn it off", STEPS, TRIGGERS)
    assert either.may_switch(False, trigger=True)
    assert either.may_switch(False, trigger=False)
    assert not either.may_switch(True, trigger=True)


def test_a_trigger_is_named_by_its_key_or_by_what_triggers_are_called() -> None:
    assert read("remove the trigger", STEPS, TRIGGERS).named_triggers == {"cron", "sms-webhook"}
    assert read("remove sms-webhook", STEPS, TRIGGERS).may_remove_trigger(
        "sms-webhook", confirmed=False
    )
    assert not read("remove fetch", STEPS, TRIGGERS).may_remove_trigger("cron", confirmed=False)


@given(st.text(max_size=300), st.text(min_size=1, max_size=20))
def test_any_text_is_read(request_text: str, name: str) -> None:
    intent = read(request_text, (Step(name, name),), (Trigger(name),))
    assert intent.named <= {name}


@given(st.text(st.characters(categories=["L", "N"]), min_size=3, max_size=12))
def test_a_request_that_holds_a_name_between_spaces_names_the_step(name: str) -> None:
    assert read(f"please remove the step {name} now", (Step("k-0-k", name),)).named == {"k-0-k"}

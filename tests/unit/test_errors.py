"""The tree of failures is the one in its docstring."""

from __future__ import annotations

import json
import re

import pytest

from global_chat.contract import errors
from global_chat.contract.errors import RateLimited, TurnError
from global_chat.contract.names import Usage
from tests.promised_failures import PROMISED

pytestmark = pytest.mark.unit


def leaves(kind: type[TurnError]) -> list[type[TurnError]]:
    below = [sub for sub in kind.__subclasses__() if sub.__module__ == errors.__name__]
    return [leaf for sub in below for leaf in leaves(sub)] if below else [kind]


#: Those of the product itself; tests and other rooms may derive their own.
KINDS = leaves(TurnError)


def test_the_tree_is_the_contract_s_table() -> None:
    found = {kind.type: (kind.code, kind.exit_code) for kind in KINDS}
    assert found == PROMISED
    assert len(KINDS) == len(PROMISED)


def test_the_docstring_draws_the_tree_as_it_is() -> None:
    drawn: dict[str, tuple[str, int, str, int]] = {}
    branch = ("TurnError", 1)
    for line in (errors.__doc__ or "").splitlines():
        if found := re.search(r"[├└]── (\w+) .*exit (\d)$", line):
            branch = (found[1], int(found[2]))
        elif found := re.search(r"[├└]── (\w+) +(\d{3}) ([A-Z_]+)$", line):
            drawn[found[1]] = (branch[0], int(found[2]), found[3], branch[1])
        elif found := re.search(r"[├└]── (\w+) .*exit (\d) +(\d{3}) ([A-Z_]+)$", line):
            drawn[found[1]] = ("TurnError", int(found[3]), found[4], int(found[2]))
    assert drawn == {
        kind.__name__: (kind.__mro__[1].__name__, kind.code, kind.type, kind.exit_code)
        for kind in KINDS
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
def test_every_failure_is_one_object(kind: type[TurnError]) -> None:
    error = kind("Try again.")
    assert error.as_dict() == {"code": kind.code, "type": kind.type, "message": "Try again."}
    detailed = kind("Try again.", details={"where": [1, "é"]}).as_dict()
    assert list(detailed) == ["code", "type", "message", "details"]
    assert json.loads(json.dumps(detailed)) == detailed
    assert (error.usage, error.partial_workflow) == (Usage(), None)
    assert str(error) == "Try again."


def test_a_rate_limit_says_how_long_to_wait() -> None:
    error = RateLimited("Wait.", retry_after=20, details={"status": 429})
    assert error.as_dict()["details"] == {"status": 429, "retry_after": 20}
    assert "details" not in RateLimited("Wait.").as_dict()


def test_only_the_service_s_failures_may_be_tried_again() -> None:
    retryable = {kind.type for kind in KINDS if kind("x").retryable}
    assert retryable == {kind.type for kind in KINDS if issubclass(kind, errors.ServiceError)}


def test_details_belong_to_one_error() -> None:
    shared = {"a": 1}
    error = TurnError("x", details=shared)
    error.details["b"] = 2
    assert shared == {"a": 1}

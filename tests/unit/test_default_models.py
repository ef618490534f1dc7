"""The default models are ones that the official SDK knows and does not call deprecated."""

from __future__ import annotations

from typing import get_args

import pytest

from global_chat.contract.names import AGENT_NAMES
from global_chat.contract.settings import Settings

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_a_default_model_is_current(agent: str) -> None:
    from anthropic._data import DEPRECATED_MODELS
    from anthropic.types.model_param import ModelParam

    known, _any = get_args(ModelParam)
    model = getattr(Settings(), agent).model
    assert model in get_args(known)
    assert model not in DEPRECATED_MODELS


def test_a_small_model_routes_a_middle_one_edits_and_a_large_one_plans() -> None:
    families = [getattr(Settings(), agent).model.split("-")[1] for agent in AGENT_NAMES]
    assert families == ["haiku", "sonnet", "sonnet", "opus"]

"""The router's reply: the decision as the JSON that its schema asks for."""

from __future__ import annotations

import json

from global_chat.model.seam import ModelRequest

from ..request.questions import read_question
from .classifier import Guess, guess


def decide(request: ModelRequest) -> Guess:
    """The decision on a router's request."""
    return guess(read_question(request))


def as_json(said: Guess) -> str:
    """What the router answers."""
    decision = {
        "destination": said.destination,
        "confidence": said.confidence,
        "job_key": said.job_key,
    }
    return json.dumps(decision, ensure_ascii=False)

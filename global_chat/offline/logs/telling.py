"""A diagnosis in words: the step, the cause, the lines that prove it, what is not the cause."""

from __future__ import annotations

from ..language.folding import squeezed
from ..language.mentions import Named
from ..language.saying import Voice
from .diagnosis import Diagnosis, diagnose
from .lines import read_log


def tell(log_text: str, steps: list[Named], voice: Voice, only: str | None = None) -> str | None:
    """What went wrong in a run; None when the log shows no failure.

    `only` is the key of a step that the question is about; a failure of another is told all the
    same, because it is the one that ended the run.
    """
    found = diagnose(read_log(log_text))
    if not found:
        return None
    mine = [d for d in found if only and _key(d.step, steps) == only]
    return "\n\n".join(_told(d, steps, voice) for d in (mine or found)[:4])


def failing_steps(log_text: str, steps: list[Named]) -> list[str]:
    """Keys of the steps that failed, as far as the workflow has them."""
    keys = [_key(d.step, steps) for d in diagnose(read_log(log_text))]
    return [key for key in keys if key]


def _key(name: str, steps: list[Named]) -> str | None:
    wanted = squeezed(name)
    return next((s.key for s in steps if wanted in (squeezed(s.name), squeezed(s.key))), None)


def _told(diagnosis: Diagnosis, steps: list[Named], voice: Voice) -> str:
    key = _key(diagnosis.step, steps)
    name = f"{diagnosis.step} (`{key}`)" if key and key != diagnosis.step else diagnosis.step
    parts = [voice.say("log_failed", step=name, error=diagnosis.error)]
    parts.append(voice.say(f"log_{diagnosis.kind}"))
    parts.append(voice.say("log_proof") + "\n\n```\n" + "\n".join(diagnosis.proof) + "\n```")
    if diagnosis.harmless:
        quoted = "\n".join(diagnosis.harmless)
        parts.append(voice.say("log_harmless") + f"\n\n```\n{quoted}\n```")
    return "\n\n".join(parts)

"""What can be done, spelled for one workflow, the two things first that are like the request."""

from __future__ import annotations

from collections.abc import Iterator

from .questions import in_order
from .scene import Scene, stem, system_of, words


def suggestions(request: str, scene: Scene) -> tuple[str, str]:
    """The two requests that can be carried out here and share most words with the given one."""
    asked = {stem(word) for word in words(request)}

    def likeness(example: tuple[str, str]) -> int:
        spelled, about = example
        return -len(asked & {stem(word) for word in (*words(spelled), *words(about))})

    first, second, *_ = sorted(_examples(request, scene), key=likeness)
    return f"`{first[0]}`", f"`{second[0]}`"


def _examples(request: str, scene: Scene) -> Iterator[tuple[str, str]]:
    """Requests with the words that people use for the same thing."""
    steps = [s for s in in_order(scene) if _is_named(request, s.name)] or in_order(scene)
    yield "run it every weekday at 7", "schedule cron daily time hour when start often every day"
    yield "turn off the trigger", "disable stop pause switch enable on webhook"
    if not steps:
        return
    here = next(s for s in steps)
    last = steps[-1]
    yield f'rename "{here.name}" to "New name"', "call name title"
    yield f"remove the step {last.name}", "delete drop get rid of"
    yield f'add an empty http step called "New step" after {last.name}', "insert create new put"
    if into := scene.into(last.key):
        source = scene.title(into[0].source_step or into[0].source_trigger)
        if into[0].source_step:
            yield f"{last.name} should only run if {source} fails", "condition path always success error"
        yield f"turn off the path to {last.name}", "disable branch skip switch edge"
    if system := system_of(here.adaptor):
        yield f"use {system}@latest in {here.name}", "adaptor version upgrade pin switch"
    yield from _code_examples(steps, scene)
    yield f"what does {here.name} do?", "explain describe question"
    yield "when does this run?", "question schedule"


def _code_examples(steps: list[object], scene: Scene) -> Iterator[tuple[str, str]]:
    for step in (s for s in scene.coded if s in steps):
        code = scene.code(step.key)
        for setting in code.found_settings[:3]:
            value = code.text[setting.start : setting.end]
            yield f"in {step.name} change {setting.name} from {value} to …", "set value limit replace instead"
        if any(True for _ in code.logs()):
            yield f"remove the console.log lines in {step.name}", "log print debug"
        if code.texts:
            start, end = code.texts[0]
            old = code.text[start:end].strip()[:40]
            yield f"in {step.name} replace '{old}' with '…'", "change text url address instead"
        return


def _is_named(request: str, name: str) -> bool:
    return " ".join(words(name)) in " ".join(words(request))

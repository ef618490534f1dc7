"""The job code agent's reply: text, edits, or a handover."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from global_chat.workflow.parts import Step

from ..language.folding import folded, word_set, words
from ..language.mentions import Named
from ..language.saying import Voice
from ..language.tongue import everyday_words
from ..logs.telling import tell
from ..structure.questions import is_question, is_structure_question
from . import added_lines, catches, emojis, kinds, lines, literals, settings, state_keys
from .asking import CodeAsk, Elsewhere, Refused, is_idle
from .explaining import around, explain
from .starters import starter

#: What has to be read first comes first: a renamed key of the state is also a "this for that".
COMMANDS: tuple[Callable[[CodeAsk], None], ...] = (
    state_keys.rename_state_key,
    lines.remove_console,
    emojis.remove_emojis,
    emojis.remove_comments,
    catches.remove_catch,
    literals.replace_literals,
    catches.add_catch,
    added_lines.add_console,
    settings.set_flags,
    settings.set_values,
    kinds.new_value_by_kind,
)
#: Without the one that goes by a value's kind alone, which only fits when the step is certain.
SURE_COMMANDS = COMMANDS[:-1]
_FIX = re.compile(
    r"\b(?:fix|repair|correct|make it work|solve|change|handle|turn it|corrige\w*"
    r"|repare\w*|arregl\w+|corrij\w+|conserta\w*|rekebisha)\b"
)
_WANTS_STARTER = re.compile(
    r"\b(?:code|write|start\w*|starter|fill|implement|complete|skeleton|ecri\w+|escrib\w+"
    r"|codigo|escrev\w+|andika|finish|do this)\b"
)
_STARTER_WORDS = word_set(
    "write code the starter start fill in implement complete skeleton for this step "
    "please pls me a some first with just give us can you could draft empty its it of "
    "here job"
    " ecris ecrire le du de cette etape svp escribe escribir el codigo de este paso por "
    "favor para escreve escrever o deste passo andika ya hatua hii tafadhali finish do "
    "one is to so that we i have something and"
)
_ASKING_WORDS = word_set(
    "value values code step we us our you it one used use get gives called called many much does do"
    " can could will would there here tell me explain state valor valeur explique explica eleza"
)
_SAME = re.compile(r"\b(?:same|like|as in|comme|igual|como (?:en|no|na)|kama|similar)\b")


@dataclass(frozen=True, slots=True)
class CodeReply:
    """`code` is the whole new code when it changes. A handover has neither text nor code."""

    text: str = ""
    code: str | None = None
    handover: str | None = None


@dataclass(frozen=True, slots=True)
class CodeTask:
    """What the agent is given: the request, the step and its code, and what lies around it."""

    content: str
    code: str
    key: str
    name: str
    adaptor: str = ""
    documentation: str = ""
    steps: Sequence[Named] = ()
    log: str = ""


def reply(task: CodeTask) -> CodeReply:
    """Do what the request asks of this step's code, completely or not at all."""
    voice = Voice(task.content)
    empty = not Step(task.key, task.name, code=task.code).has_code
    if task.log and (told := _from_log(task, voice)):
        return CodeReply(told)
    if task.steps and is_structure_question(folded(task.content.strip())):
        return CodeReply(handover=task.content)
    if is_question(folded(task.content.strip())):
        return CodeReply(_answer(task, voice))
    if empty:
        return _write(task, voice)
    try:
        ask = CodeAsk.read(task.content, task.code, task.steps, task.key)
        attempt(ask)
    except Elsewhere:
        return CodeReply(handover=task.content)
    except Refused as reason:
        return CodeReply(voice.cannot(reason.phrase, **reason.values))
    if not ask.said:
        return _not_done(task, ask, voice)
    if not is_idle(ask):
        return CodeReply(voice.cannot("only_part"))
    text = " ".join(voice.say(phrase, **values) for phrase, values in ask.said)
    return CodeReply(text, ask.code.text)


def attempt(ask: CodeAsk) -> None:
    """Run every command on a request; a value that is nowhere in the code only counts at the end.

    Raises Refused, and Elsewhere when nothing could be done because the code holds none of it.
    """
    missing = False
    for command in COMMANDS:
        try:
            command(ask)
        except Elsewhere:
            missing = True
    if missing:
        raise Elsewhere


def _not_done(task: CodeTask, ask: CodeAsk, voice: Voice) -> CodeReply:
    """Nothing was understood: another step is meant, or a language model is needed."""
    if ask.other_steps and not _SAME.search(ask.masked.norm):
        return CodeReply(handover=task.content)
    return CodeReply(voice.cannot("needs_code"))


def _from_log(task: CodeTask, voice: Voice) -> str | None:
    told = tell(task.log, list(task.steps), voice, only=task.key)
    if told is None:
        return None
    fix = _FIX.search(folded(task.content)) and not is_question(folded(task.content.strip()))
    return f"{told}\n\n{voice.say('no_fix')}" if fix else told


def _answer(task: CodeTask, voice: Voice) -> str:
    """What the code does, with the lines that hold the question's own words."""
    text = explain(task.code, task.name, voice)
    asked = {w for w in words(task.content) if len(w) > 1} - everyday_words() - _ASKING_WORDS
    quoted = around(task.code, asked)
    if quoted and len(quoted) < 8:
        text += f"\n\n{voice.say('relevant_lines')}\n\n```js\n" + "\n".join(quoted) + "\n```"
    return text


def _write(task: CodeTask, voice: Voice) -> CodeReply:
    """A starter, when code is asked for and nothing more exact is said."""
    plain = folded(task.content)
    ask = CodeAsk.read(task.content, "", task.steps, task.key)
    more = [w for w in words(ask.rest) if w not in _STARTER_WORDS]
    exact = len(ask.masked.values) > 0 or len(more) > 1
    if not _WANTS_STARTER.search(plain) or exact:
        return CodeReply(voice.cannot("needs_code"))
    code = starter(task.name, task.adaptor, task.documentation)
    return CodeReply(voice.say("added_starter", step=task.name), code)

"""Verbs by which a clause asks for something to be done."""

from __future__ import annotations

import re

VERBS = (
    r"(?:add|insert|append|remove|delete|send|skip|log|print|throw|write|keep(?! (?:it"
    r"|the rest|everything))|save|store|drop|filter|sort|round|convert|trim|map|put|set"
    r"|change|replace|use|make|rename|retry|catch|wrap|ignore|check|move|count|collect"
    r"|split|join|format|parse|handle|fetch|get|turn|mask|translate|call|include|exclude"
    r"|take|limit"
    r"|ajoute\w*|supprime\w*|enleve\w*|envoie\w*|ignore\w*|affiche\w*|ecri\w+|garde\w*"
    r"|filtre\w*|trie\w*|mets|mettre|change\w*|remplace\w*|utilise\w*|renomme\w*"
    r"|traduis\w*|calcule\w*"
    r"|agreg\w+|anad\w+|quit\w+|elimin\w+|envia\w*|ignora\w*|muestra\w*|escrib\w+"
    r"|guarda\w*|filtra\w*|ordena\w*|pon\w*|cambia\w*|reemplaz\w+|usa\w*|renombra\w*"
    r"|traduc\w+"
    r"|adicion\w+|acrescent\w+|remov\w+|apag\w+|tira\w*|manda\w*|escrev\w+|grav\w+"
    r"|coloca\w*|muda\w*|troca\w*|substitu\w+|renomei\w+|traduz\w*|ongeza|ondoa|futa|tuma"
    r"|weka|badilisha|tumia|andika)"
)
_OPENS = (
    r"(?:^|[.,;:!?(\n]|\b(?:and|then|please|also|but|et|puis|aussi|mais|y|luego|tambien"
    r"|pero|e|depois|tambem|mas|na|kisha|pia|can you|could you|should|must|to)\b)"
    r"\s*(?:please |also |then |svp |por favor )?"
)
_DEMAND = re.compile(_OPENS + rf"(?P<verb>{VERBS})\b")
#: Verbs that go with any change, so that they ask for nothing by themselves.
_ANY_CHANGE = re.compile(
    r"(?:put|set|change|replace|use|make|turn|keep|get|take|move|leave|mets|mettre"
    r"|change\w*|remplace\w*|utilise\w*|pon\w*|cambia\w*|usa\w*|coloca\w*|muda\w*"
    r"|troca\w*|weka|badilisha|tumia)$"
)


def demands(rest: str, *, any_change: bool = True) -> bool:
    """Whether a clause of folded text opens with a verb that asks for something.

    `any_change` False passes over verbs that go with any change, such as "make" and "use".
    """
    found = _DEMAND.finditer(re.sub(r"\s+", " ", rest).strip())
    return any(any_change or not _ANY_CHANGE.match(match["verb"]) for match in found)

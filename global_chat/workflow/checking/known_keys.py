"""The keys that the app and its command line write, by form and kind of part."""

from __future__ import annotations

from typing import Literal

from global_chat.workflow.reading.trigger_settings import KAFKA_FIELDS

Kind = Literal["workflow", "step", "trigger", "edge"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JOBS: dict[Kind, frozenset[str]] = {
    "workflow": _words(
        "id name description jobs triggers edges positions concurrency enable_job_logs options"
        " schema_version lock_version version_history inserted_at updated_at deleted_at"
    ),
    "step": _words(
        "id name adaptor body credential keychain_credential project_credential_id"
        " keychain_credential_id globals enabled pos position delete"
    ),
    "trigger": _words(
        "id name type enabled cron_expression cron_cursor cron_cursor_job cron_cursor_job_id"
        " custom_path comment webhook_reply webhook_response webhook_response_config"
        " webhook_auth_methods sync_webhook_response_config kafka_configuration pos position delete"
    ),
    "edge": _words(
        "id source_trigger source_job target_job condition_type condition_expression"
        " condition_label enabled delete"
    ),
}
_STEPS: dict[Kind, frozenset[str]] = {
    "workflow": _words(
        "id name description schema_version steps start openfn options globals credentials history"
        " concurrency enable_job_logs"
    ),
    "step": _words(
        "id name adaptor adaptors expression configuration credential keychain_credential openfn"
        " enabled next state linker previous workflow pos"
    ),
    "trigger": _words(
        "id name type enabled cron_expression cron_cursor cron_cursor_job cron_cursor_job_id"
        " webhook_reply webhook_response_config webhook_auth_methods custom_path comment kafka"
        " kafka_configuration openfn next previous pos"
    )
    | KAFKA_FIELDS,
    "edge": _words("condition expression label condition_label disabled enabled openfn name"),
}


def known_keys(form: Literal["jobs", "steps"], kind: Kind) -> frozenset[str]:
    """What a part of this kind may hold. Keys that begin with `x-` are anybody's own."""
    return (_JOBS if form == "jobs" else _STEPS)[kind]

"""Mutants of the rules about importing from another installation."""

from tests.mutations.mutant import Mutant

_APPS = "domain/imports/test_apps.py"
_EXTENSIONS = "domain/imports/test_extensions.py"
_WEBHOOKS = "domain/imports/test_webhooks.py"
_RUNS = "imports/test_later_app_imports.py"
_PEOPLE = "domain/imports/test_people.py"
_LATER = "imports/test_later_runs.py"

IMPORTS = (
    Mutant(
        "A quote that isn't closed refuses the whole file",
        "app/domain/imports/text_files.py",
        "if quote is not None and (quote.is_open or len(taken) > 1):",
        "if quote is None:",
        "domain/imports/test_text_files.py",
    ),
    Mutant(
        "A quote that swallowed other rows refuses the whole file",
        "app/domain/imports/text_files.py",
        "            if width == columns and _is_email(parts, email_column):",
        "            if width > columns and _is_email(parts, email_column):",
        "domain/imports/test_text_files.py",
    ),
    Mutant(
        "Who is disabled elsewhere is imported inactive",
        "app/domain/imports/user_files.py",
        "    if account_states.Effect.INACTIVE in effects:",
        "    if None in effects:",
        "imports/test_user_files.py",
    ),
    Mutant(
        "A row that lacks the column of a state is left out",
        "app/domain/imports/user_files.py",
        "if any(\n        field.key in account_states.FIELDS",
        "if all(\n        field.key in account_states.FIELDS",
        "imports/test_user_files.py",
    ),
    Mutant(
        "An unknown field that says that a person can't sign in leaves them out",
        "app/domain/imports/account_states.py",
        "    return Effect.UNCONFIRMED if _EMAIL_PROOF.search(key) else Effect.INACTIVE",
        "    return Effect.UNCONFIRMED",
        "domain/imports/test_account_states.py",
    ),
    Mutant(
        "An imported customer has no permissions",
        "app/domain/imports/people.py",
        "permissions = _rights(row, rights) if is_staff else ()",
        "permissions = _rights(row, rights)",
        _PEOPLE,
    ),
    Mutant(
        "An imported superuser is staff",
        "app/domain/imports/people.py",
        'is_superuser=is_staff and row.flag("is_superuser"),',
        'is_superuser=row.flag("is_superuser"),',
        _PEOPLE,
    ),
    Mutant(
        "Nobody becomes a member of a group that is restricted to channels",
        "app/services/imports/users.py",
        "            if run.is_left_out(RESTRICTED, group):\n",
        "            if group < 0:\n",
        "imports/test_people.py",
    ),
    Mutant(
        "Who was deactivated at the source is signed out",
        "app/services/imports/people_writing.py",
        "if row.is_active and not people[key].is_active",
        "if not row.is_active and not people[key].is_active",
        _LATER,
    ),
    Mutant(
        "A password that was set here is kept",
        "app/services/imports/users.py",
        'if row.written_digest == digest_of_text(row.password_hash or ""):',
        "if row.written_digest:",
        _LATER,
    ),
    Mutant(
        "A row that was edited here is kept",
        "app/services/imports/platform.py",
        "        if here == entry.written:\n",
        "        if here:\n",
        _LATER,
    ),
    Mutant(
        "An avatar comes from inside the media folder",
        "app/adapters/database/platform_database.py",
        "        if not is_inside:\n",
        "        if not is_inside and file.is_dir():\n",
        "imports/test_addresses.py",
    ),
    Mutant(
        "An imported app never has MANAGE_APPS",
        "app/domain/imports/apps.py",
        "    return permissions - {Permission.MANAGE_APPS}\n\n\ndef _report_missing_fields",
        "    return permissions\n\n\ndef _report_missing_fields",
        _APPS,
    ),
    Mutant(
        "A removed app is left out",
        "app/domain/imports/apps.py",
        'if source.get("removed_at") is not None:',
        'if source.get("removed_at") is not None and False:',
        _APPS,
    ),
    Mutant(
        "An app token without a usable hash is left out",
        "app/domain/imports/apps.py",
        "if not is_verifiable(encoded):",
        "if not encoded:",
        _APPS,
    ),
    Mutant(
        "An extension with an unknown permission is left out, not shown to more people",
        "app/domain/imports/apps.py",
        "    if row.findings:\n",
        "    if not permissions and False:\n",
        _EXTENSIONS,
    ),
    Mutant(
        "A webhook filtered by channel is imported disabled",
        "app/domain/imports/webhooks.py",
        "        _is_unfiltered(row),\n",
        "        _is_unfiltered(row) or True,\n",
        _WEBHOOKS,
    ),
    Mutant(
        "A webhook whose query is refused is imported disabled",
        "app/domain/imports/webhooks.py",
        "        _can_run(row, query, around.check_query),\n",
        "        _can_run(row, query, around.check_query) or True,\n",
        _WEBHOOKS,
    ),
    Mutant(
        "A webhook to a private network is imported disabled",
        "app/domain/imports/webhooks.py",
        "        _may_send_to(row, target_url, around.allowed_networks),\n",
        "        _may_send_to(row, target_url, around.allowed_networks) or True,\n",
        _WEBHOOKS,
    ),
    Mutant(
        "An inactive webhook isn't activated by its import",
        "app/domain/imports/webhooks.py",
        'is_active=row.flag("is_active") and all(checks),',
        "is_active=all(checks),",
        _WEBHOOKS,
    ),
    Mutant(
        "A webhook that was disabled for failing stays disabled",
        "app/services/imports/webhooks.py",
        '        del values["is_active"]\n',
        "        pass\n",
        _RUNS,
    ),
    Mutant(
        "A new secret of the source replaces the imported one",
        "app/services/imports/webhooks.py",
        'if row.state["secret"] != _stored_fingerprint(ports, stored.secret):',
        "if not stored.secret:",
        _RUNS,
    ),
    Mutant(
        "What belongs to an app that was deleted here is left out",
        "app/services/imports/apps.py",
        "            and app_id not in self.missing\n",
        "",
        _RUNS,
    ),
)

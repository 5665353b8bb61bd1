"""``flask webhook``: the group, with the module of each command."""

from app.commands.terminal.command import Group

_PACKAGE = "app.commands.webhooks"

command = Group(
    "webhook",
    short_help="Create, update, test and follow webhooks.",
    help="Create, update, test and follow webhooks of this installation or another instance. "
    "WEBHOOK is an ID or a unique name.",
    examples=[
        ("flask webhook list", "all webhooks"),
        ("flask webhook create", "create a webhook interactively"),
        ("flask webhook dry-run --query @paid.graphql", "preview a payload"),
        (
            "flask webhook listen --forward-to http://localhost:3000/hook",
            "forward deliveries to your machine",
        ),
        (
            "flask webhook list --instance https://shop.example.com/graphql/",
            "webhooks of another instance",
        ),
    ],
    lazy_subcommands={
        "create": f"{_PACKAGE}.edit:create",
        "delete": f"{_PACKAGE}.lists:delete",
        "deliveries": f"{_PACKAGE}.deliveries:deliveries",
        "dry-run": f"{_PACKAGE}.dry_runs:dry_run",
        "edit": f"{_PACKAGE}.edit:edit",
        "events": f"{_PACKAGE}.lists:events",
        "list": f"{_PACKAGE}.lists:list_",
        "listen": f"{_PACKAGE}.listen:listen",
        "pause": f"{_PACKAGE}.edit:pause",
        "replay": f"{_PACKAGE}.deliveries:replay",
        "resume": f"{_PACKAGE}.edit:resume",
        "retry": f"{_PACKAGE}.deliveries:retry",
        "send-waiting": f"{_PACKAGE}.deliveries:send_waiting",
        "show": f"{_PACKAGE}.lists:show",
        "trigger": f"{_PACKAGE}.dry_runs:trigger",
        "update": f"{_PACKAGE}.bulk_update:update",
        "verify": f"{_PACKAGE}.verify:verify",
    },
)

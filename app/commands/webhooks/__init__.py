"""``flask webhook``: the group, with the module of each command.

Every command is written once, against the port ``Instance``: ``instance_option`` connects it to
this installation, through its use cases, or to another one.
"""

from app.commands.terminal.command import Group

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
        "create": f"{__name__}.edit:create",
        "delete": f"{__name__}.lists:delete",
        "deliveries": f"{__name__}.deliveries:deliveries",
        "dry-run": f"{__name__}.dry_runs:dry_run",
        "edit": f"{__name__}.edit:edit",
        "events": f"{__name__}.lists:events",
        "list": f"{__name__}.lists:list_",
        "listen": f"{__name__}.listen:listen",
        "pause": f"{__name__}.edit:pause",
        "replay": f"{__name__}.deliveries:replay",
        "resume": f"{__name__}.edit:resume",
        "retry": f"{__name__}.deliveries:retry",
        "send-waiting": f"{__name__}.deliveries:send_waiting",
        "show": f"{__name__}.lists:show",
        "trigger": f"{__name__}.dry_runs:trigger",
        "update": f"{__name__}.bulk_update:update",
        "verify": f"{__name__}.verify:verify",
    },
)

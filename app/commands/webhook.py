"""``flask webhook``: the group, and where each of its commands is."""

from app.commands.late import LateCommands
from app.commands.terminal.command import Group

_HERE = "app.commands.webhooks"

command = Group(
    "webhook",
    short_help="List, make, change, try and follow webhooks.",
    help="List, make, change, try and follow webhooks, of this installation or of another one. "
    "WEBHOOK is an id, or a name that is unique.",
    examples=[
        ("flask webhook list", "all of them, app by app"),
        ("flask webhook create", "a new one: asks what it needs to know"),
        ("flask webhook dry-run --query @paid.graphql", "what it would be told"),
        ("flask webhook listen --forward-to http://localhost:3000/hook", "on your own machine"),
        ("flask webhook list --instance https://shop.example.com/graphql/", "of another shop"),
    ],
    commands=LateCommands(
        {
            "create": f"{_HERE}.create:create",
            "delete": f"{_HERE}.lists:delete",
            "deliveries": f"{_HERE}.deliveries:deliveries",
            "dry-run": f"{_HERE}.dry_runs:dry_run",
            "edit": f"{_HERE}.edit:edit",
            "events": f"{_HERE}.lists:events",
            "list": f"{_HERE}.lists:list_",
            "listen": f"{_HERE}.listen:listen",
            "replay": f"{_HERE}.redelivery:replay",
            "retry": f"{_HERE}.redelivery:retry",
            "show": f"{_HERE}.lists:show",
            "trigger": f"{_HERE}.dry_runs:trigger",
            "update": f"{_HERE}.bulk_update:update",
            "verify": f"{_HERE}.verify:verify",
        }
    ),
)

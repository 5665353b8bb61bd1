"""Who may lead the links of mails to a webhook: they set a password, or move an address.

Contract, "Webhooks": staff need MANAGE_APPS for the webhooks of all apps. But whoever is told such
a link is let in as somebody else, and nobody gives what they do not hold.
"""

from app.domain.actor import Actor
from app.domain.apps import App
from app.domain.errors import Problem, Refused
from app.domain.events import LinkRequested
from app.domain.permissions import in_order
from app.domain.webhooks import Webhook
from app.services.access import part
from app.services.specimens import kinds_of


@part
def require_links_within_reach(actor: Actor, app: App, webhook: Webhook, field: str) -> None:
    """Refuse INVALID on ``field`` if ``webhook`` of ``app`` hears of links that ``actor`` may not.

    What an app does with its own webhooks is its own affair.
    """
    if actor.is_app:
        return
    told = {
        kind.permission for kind in kinds_of(webhook.events) if issubclass(kind, LinkRequested)
    }
    lacking = (told & app.permissions) - actor.permissions
    if lacking:
        names = ", ".join(in_order(frozenset(lacking)))
        message = f"It would be told links that let others in, for which you lack: {names}."
        raise Refused(Problem("INVALID", message, field))

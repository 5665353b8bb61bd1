"""Links as they are sent by mail."""

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.ports import Ports
from app.services.accounts.email_links import make_link


def link_for(ports: Ports, user_id: int, purpose: LinkPurpose, new_email: str = "") -> str:
    """Store a link for a user; return its token."""
    with ports.database.transaction() as session:
        user = session.get_one(models.User, user_id)
        return make_link(ports, session, user, purpose, new_email)

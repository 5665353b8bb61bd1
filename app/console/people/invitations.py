"""Inviting staff by mail; they choose a password themselves."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, StringField
from wtforms.validators import InputRequired

from app.console.forms import ConsoleForm
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import done, page, refused_page, set_password_address
from app.console.people.group_pages import group_choice
from app.console.people.groups import every_group
from app.console.session import actor, ports, require
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.text import text
from app.services.people.staff import NewStaff, create_staff

blueprint = PageGroup(
    "invitations",
    __name__,
    Entry("Invite staff member", "envelope", "new staff add person someone", needs=create_staff),
    url_prefix="/invite",
)


class InvitationForm(ConsoleForm):
    """The person to invite."""

    email = EmailField("Email", validators=[InputRequired("Enter an email.")])
    first_name = StringField("First name")
    last_name = StringField("Last name")


@blueprint.route("/", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Show the form; add the user and mail a link to choose a password."""
    require(Permission.MANAGE_STAFF)
    form = InvitationForm()
    ticked = tuple(request.form.getlist("groups"))
    if form.validate_on_submit():
        new = NewStaff(
            form.email.data,
            form.first_name.data or "",
            form.last_name.data or "",
            groups=ticked,
            redirect_url=set_password_address(),
        )
        try:
            user = create_staff(ports(), actor(), new)
        except Refused as refused:
            form.refuse(refused)
        else:
            message = text("Invitation sent to {email}.", email=user.email)
            return done(message, "console.staff.show", key=user.id)
    groups = every_group()
    chosen = [one.id for one in groups if to_global_id("Group", one.id) in ticked]
    show = refused_page if form.is_submitted() else page
    return show("staff/invite.html", form=form, groups=group_choice(groups, chosen, actor()))

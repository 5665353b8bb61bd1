"""Pictures that people show of themselves."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.domain.accounts.users import AVATAR_NAME_LENGTH, AVATAR_SIZES, MAX_AVATAR_SIZE, User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.inputs import Upload
from app.models import AvatarRecord, UserRecord
from app.ports import Ports
from app.ports.images import InvalidImage
from app.services.accounts.account_details import add_user_updated
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only, public
from app.services.identity.users import load_caller
from app.services.sign_in.reauthentication import own_id


@account_owner_only
def update_avatar(ports: Ports, actor: Actor, image: Upload) -> User:
    """Replace the caller's avatar (`userAvatarUpdate`).

    The image is re-encoded from its pixels and gets a random name. Refuses
    FILE_SIZE_LIMIT_EXCEEDED on ``image``, and INVALID for a file that is not an image or has too
    many pixels.
    """
    if len(image.data) > MAX_AVATAR_SIZE:
        message = "Use a file of at most {max_file_size} MiB."
        raise Refused(
            Problem(
                "FILE_SIZE_LIMIT_EXCEEDED",
                message,
                "image",
                values={"max_file_size": MAX_AVATAR_SIZE // (1024 * 1024)},
            )
        )
    try:
        squares = ports.images.crop_squares(image.data, AVATAR_SIZES)
    except InvalidImage as reason:
        raise Refused(reason.problem) from None
    name = ports.randomness.token(AVATAR_NAME_LENGTH)
    with ports.database.transaction() as session:
        user = _own(session, actor)
        _replace(ports, actor, session, user, name)
        session.add_all(
            AvatarRecord(name=name, size=size, user_id=user.id, data=data)
            for size, data in squares.items()
        )
        return load_caller(ports, session, actor, user.id)


@account_owner_only
def delete_avatar(ports: Ports, actor: Actor) -> User:
    """Show no picture of the caller any more (`userAvatarDelete`); none is no problem."""
    with ports.database.transaction() as session:
        user = _own(session, actor)
        if user.avatar:
            _replace(ports, actor, session, user, "")
        return load_caller(ports, session, actor, user.id)


@public
def show_avatar(ports: Ports, actor: Actor, name: str, size: int) -> bytes | None:
    """Return the avatar of that name and size as WebP; ``None`` if it doesn't exist."""
    query = select(AvatarRecord.data).where(AvatarRecord.name == name, AvatarRecord.size == size)
    with ports.database.reading() as session:
        return session.scalar(query)


def _own(session: Session, actor: Actor) -> UserRecord:
    user = session.get(UserRecord, own_id(actor), with_for_update=True)
    if user is None:
        raise PermissionDenied(Caller.USER)
    return user


def _replace(ports: Ports, actor: Actor, session: Session, user: UserRecord, name: str) -> None:
    session.execute(delete(AvatarRecord).where(AvatarRecord.user_id == user.id))
    before, after = {"avatar": bool(user.avatar)}, {"avatar": bool(name)}
    user.avatar = name
    user.updated_at = ports.clock.now()
    add_user_updated(ports, actor, session, user)
    change = Change("account.avatar", "User", user.id, user.email, before, after)
    record(ports, actor, session, change)

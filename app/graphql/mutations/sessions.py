"""Ending one session, or all others."""

import graphene

from app.graphql.context import Info
from app.graphql.mutations.payloads import AccountPayload, answers
from app.services.sign_in.sessions import end_other_sessions, end_session


class SessionEnd(AccountPayload):
    """The ended session."""


class SessionsEndOthers(AccountPayload):
    """The number of ended sessions."""

    count = graphene.Int(description="Number of sessions that ended.")


class SessionMutations(graphene.ObjectType):
    """The caller's own sessions."""

    session_end = graphene.Field(
        SessionEnd,
        description=(
            "Ends a session of the signed-in user and revokes its tokens immediately. Not "
            "available to dashboard extensions."
        ),
        id=graphene.NonNull(graphene.ID),
    )
    sessions_end_others = graphene.Field(
        SessionsEndOthers,
        description=(
            "Ends all other sessions of the signed-in user and revokes their tokens "
            "immediately. Not available to dashboard extensions."
        ),
    )

    @staticmethod
    @answers(SessionEnd)
    def resolve_session_end(_root: object, info: Info, id: str) -> SessionEnd:
        end_session(info.context.ports, info.context.actor, id)
        return SessionEnd()

    @staticmethod
    @answers(SessionsEndOthers)
    def resolve_sessions_end_others(_root: object, info: Info) -> SessionsEndOthers:
        return SessionsEndOthers(count=end_other_sessions(info.context.ports, info.context.actor))

"""Ending one session, or all others."""

import graphene
from graphql import GraphQLResolveInfo

from app.graphql.context import RequestContext
from app.graphql.mutations.payloads import AccountPayload, answers
from app.services.sign_in.own_sessions import end_other_sessions, end_session


class SessionEnd(AccountPayload):
    """The session has ended."""


class SessionsEndOthers(AccountPayload):
    """Every other session of the caller has ended."""

    count = graphene.Int(description="How many there were.")


class SessionMutations(graphene.ObjectType):
    """The caller's own sessions."""

    session_end = graphene.Field(
        SessionEnd,
        description=(
            "Ends one of the caller's own sessions; its tokens die at once. For signed-in people, "
            "through no dashboard extension."
        ),
        id=graphene.NonNull(graphene.ID),
    )
    sessions_end_others = graphene.Field(
        SessionsEndOthers,
        description=(
            "Ends every session of the caller but the one that asks; their tokens die at once. "
            "For signed-in people, through no dashboard extension."
        ),
    )

    @staticmethod
    @answers(SessionEnd)
    def resolve_session_end(_root: object, info: GraphQLResolveInfo, id: str) -> SessionEnd:
        context: RequestContext = info.context
        end_session(context.ports, context.actor, id)
        return SessionEnd()

    @staticmethod
    @answers(SessionsEndOthers)
    def resolve_sessions_end_others(_root: object, info: GraphQLResolveInfo) -> SessionsEndOthers:
        context: RequestContext = info.context
        return SessionsEndOthers(count=end_other_sessions(context.ports, context.actor))

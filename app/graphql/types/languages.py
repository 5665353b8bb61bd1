"""Languages of users."""

import graphene

from app.domain.accounts.languages import LANGUAGE_NAMES

LanguageCodeEnum = graphene.Enum(
    "LanguageCodeEnum",
    [(code, code) for code in LANGUAGE_NAMES],
    description=lambda code: (
        "A language, perhaps with its script and country."
        if code is None
        else f"{LANGUAGE_NAMES[code.value]}."
    ),
)


class LanguageDisplay(graphene.ObjectType):
    """A language of people and emails."""

    code = graphene.NonNull(LanguageCodeEnum)
    language = graphene.NonNull(graphene.String, description="Its English name.")

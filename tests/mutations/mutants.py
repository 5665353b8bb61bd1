"""All mutants."""

from tests.mutations.access_rules import AUTHORIZATION, SWITCHES
from tests.mutations.account_rules import ACCOUNTS, APPS, SINGLE_SIGN_ON
from tests.mutations.credential_rules import SIGN_IN, TOKENS
from tests.mutations.delivery_rules import VALUES, WEBHOOKS

MUTANTS = (
    *AUTHORIZATION,
    *SWITCHES,
    *TOKENS,
    *SIGN_IN,
    *ACCOUNTS,
    *SINGLE_SIGN_ON,
    *APPS,
    *WEBHOOKS,
    *VALUES,
)

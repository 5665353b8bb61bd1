"""All mutants."""

from tests.mutations.access_rules import AUTHORIZATION, ENTITIES, SWITCHES
from tests.mutations.account_rules import ACCOUNTS, APPS, PERSONAL_DATA, SINGLE_SIGN_ON
from tests.mutations.app_mail_rules import APP_MAIL
from tests.mutations.credential_rules import SIGN_IN, TOKENS
from tests.mutations.delivery_rules import VALUES, WEBHOOKS
from tests.mutations.import_rules import IMPORTS
from tests.mutations.list_rules import LISTS
from tests.mutations.mail_design_rules import MAIL_DESIGN
from tests.mutations.mail_log_rules import MAIL_LOG
from tests.mutations.mail_template_rules import MAIL_TEMPLATES
from tests.mutations.openid_provider_rules import OPENID_PROVIDER
from tests.mutations.operation_rules import OPERATIONS
from tests.mutations.passkey_rules import PASSKEYS
from tests.mutations.second_factor_rules import SECOND_FACTORS
from tests.mutations.sign_in_log_rules import SIGN_IN_LOG

MUTANTS = (
    *AUTHORIZATION,
    *SWITCHES,
    *ENTITIES,
    *TOKENS,
    *SIGN_IN,
    *SIGN_IN_LOG,
    *MAIL_DESIGN,
    *MAIL_LOG,
    *MAIL_TEMPLATES,
    *APP_MAIL,
    *PASSKEYS,
    *SECOND_FACTORS,
    *ACCOUNTS,
    *PERSONAL_DATA,
    *SINGLE_SIGN_ON,
    *OPENID_PROVIDER,
    *APPS,
    *WEBHOOKS,
    *VALUES,
    *LISTS,
    *OPERATIONS,
    *IMPORTS,
)

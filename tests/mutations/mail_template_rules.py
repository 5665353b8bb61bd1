"""Mutants of the rules of the shop's own email templates."""

from tests.mutations.mutant import Mutant

_CHECKED = "adapters/test_own_templates.py"
_CONTENTS = "hostile/test_template_html.py"
_STORED = "services/mails/test_mail_templates.py"
_SIZE = "services/mails/test_mail_template_size.py"

MAIL_TEMPLATES = (
    Mutant(
        "A template uses listed filters alone",
        "app/adapters/mail/own_templates.py",
        "if node.name not in own_templates.FILTERS:",
        "if False:",
        _CHECKED,
    ),
    Mutant(
        "A template loops over documented lists alone",
        "app/adapters/mail/own_templates.py",
        "if value is None or value.type is not own_templates.ValueType.LIST:",
        "if value is None:",
        _CHECKED,
    ),
    Mutant(
        "A loop of a template contains no other loop",
        "app/adapters/mail/own_templates.py",
        "        if self._items:\n",
        "        if False:\n",
        _CHECKED,
    ),
    Mutant(
        "A link in a template isn't filtered",
        "app/adapters/mail/own_templates.py",
        "if self._is_link(inner):",
        "if False:",
        _CHECKED,
    ),
    Mutant(
        "A link in a template isn't compared",
        "app/adapters/mail/own_templates.py",
        "elif self._is_link(self._expression(node, depth)):",
        "elif not self._expression(node, depth) and False:",
        _CHECKED,
    ),
    Mutant(
        "The output of a template is capped while it is made",
        "app/adapters/mail/own_templates.py",
        "if length > own_templates.MAX_OUTPUT:",
        "if False:",
        _CHECKED,
    ),
    Mutant(
        "An email by a template shows its links in every case",
        "app/domain/mails/template_contents.py",
        "for name in links if name not in certain)",
        "for name in links if name in certain)",
        _CHECKED,
    ),
    Mutant(
        "A template has values in no attribute but a link's",
        "app/domain/mails/template_contents.py",
        'if not (is_whole and (tag, key) == ("a", "href")):',
        "if not is_whole:",
        _CONTENTS,
    ),
    Mutant(
        "A template nests few tags",
        "app/domain/mails/template_contents.py",
        "if len(self._open) == MAX_OPEN + 1:",
        "if False:",
        _CONTENTS,
    ),
    Mutant(
        "A template loads no image from elsewhere",
        "app/domain/mails/template_contents.py",
        'if name == "src" and not _OWN_IMAGE.fullmatch(value):',
        "if False:",
        _CONTENTS,
    ),
    Mutant(
        "A template links to listed hosts alone",
        "app/domain/mails/template_contents.py",
        "return url_rule(value)",
        "return None",
        _CONTENTS,
    ),
    Mutant(
        "A style of a template loads nothing",
        "app/domain/mails/template_contents.py",
        "if call[1].lower() not in _CSS_FUNCTIONS:",
        "if False:",
        _CONTENTS,
    ),
    Mutant(
        "An email is no larger than its limit after its styles are inlined",
        "app/adapters/mail/email_templates.py",
        "if len(parts.html.encode()) > MAX_OUTPUT:",
        "if False:",
        _SIZE,
    ),
    Mutant(
        "The second of two editors doesn't overwrite the first's template",
        "app/services/mails/mail_templates.py",
        "if current != based_on:",
        "if False:",
        _STORED,
    ),
    Mutant(
        "Saving a template needs a fresh proof",
        "app/services/mails/mail_templates.py",
        '@fresh_proof("You\'re about to change an email that people receive.")\n',
        "",
        _STORED,
    ),
    Mutant(
        "A test of an edited template goes to the caller",
        "app/services/mails/mail_templates.py",
        "email = _SAMPLE_EMAIL if found is None else found.email",
        "email = _SAMPLE_EMAIL",
        _STORED,
    ),
    Mutant(
        "Emails that no app can send are named",
        "app/domain/mails/mail.py",
        "if sender in (MailSender.APP, MailSender.BOTH) and not apps[kind]",
        "if sender == MailSender.APP and not apps and apps[kind]",
        "services/console/test_home.py",
    ),
    Mutant(
        "A template for all languages has values in the shop's default language",
        "app/services/mails/mail_templates.py",
        "    return replace(mail, language_code=default)",
        "    return mail",
        "services/mails/test_mail_templates.py",
    ),
)

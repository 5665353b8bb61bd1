"""Mutants of the rules about the mail log."""

from tests.mutations.mutant import Mutant

MAIL_LOG = (
    Mutant(
        "A recipient that the mail server can't be given fails for good",
        "app/adapters/mail/mailer.py",
        "raise MailUndeliverable(mail_log.RECIPIENT_NOT_ASCII, permanent=True)",
        "raise MailUndeliverable(mail_log.RECIPIENT_NOT_ASCII)",
        "adapters/test_mailer.py",
    ),
    Mutant(
        "Who manages customers alone sees emails about customers alone",
        "app/services/mails/mail_log.py",
        "conditions.append(models.User.is_staff.is_(False))",
        "conditions.append(models.User.is_staff.is_not(True))",
        "services/mails/test_mail_log.py",
    ),
    Mutant(
        "Links in the answer of a mail server aren't stored",
        "app/domain/mails/mail_log.py",
        "return _SECRETS.sub(_HIDDEN, line)",
        "return line",
        "hostile/test_mail_log_secrets.py",
    ),
    Mutant(
        "The mail server's password in its answer isn't stored",
        "app/domain/mails/mail_log.py",
        "line = line.replace(password, _HIDDEN)",
        "pass",
        "hostile/test_mail_log_secrets.py",
    ),
    Mutant(
        "A confirmation isn't sent again by staff",
        "app/services/mails/mail_log.py",
        "    MailKind.STAFF_INVITATION: resend_invitation,",
        "    MailKind.STAFF_INVITATION: resend_invitation,\n"
        "    MailKind.ACCOUNT_CONFIRMATION: resend_invitation,",
        "services/mails/test_mail_resends.py",
    ),
    Mutant(
        "A waiting email is tried once a minute",
        "app/services/mails/mail_log.py",
        "found.attempted_at > now - _BETWEEN_ATTEMPTS:",
        "found.attempted_at > now:",
        "services/mails/test_mail_resends.py",
    ),
    Mutant(
        "Waiting emails aren't deleted with the mail log",
        "app/services/operations/cleanup.py",
        "            models.OutboxMail.next_attempt_at.is_(None),\n",
        "",
        "services/operations/test_cleanup.py",
    ),
)

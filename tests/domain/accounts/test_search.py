"""Finding people by the beginnings of words."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.accounts.addresses import MAX_LENGTHS
from app.domain.accounts.search import (
    ADDRESS_FIELDS,
    MAX_ADDRESS_WORDS,
    MAX_WORD_LENGTH,
    MAX_WORDS,
    end_of,
    fold,
    read_search,
    words_of,
)
from tests.fixtures.cases import cases


@cases(
    ("text", "folded"),
    [
        ("ANNA", "anna"),
        ("Müller", "muller"),
        ("mu\u0308ller", "muller"),
        ("ÉMILE", "emile"),
        ("STRAẞE", "strasse"),
        ("straße", "strasse"),
        ("Ǆ", "dz"),
        ("Жанна", "жанна"),
        ("Й", "и"),
        ("ﬁ", "fi"),
        ("Łódź", "łodz"),
        ("王小明", "王小明"),
        ("İstanbul", "istanbul"),
    ],
)
def test_case_and_accents_make_no_difference(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_folding_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_person_is_found_by_email_domain_and_names() -> None:
    assert words_of("x1@mail.example.com", "Anna Maria", "van der Berg") == {
        *("x1@mail.example.com", "mail.example.com", "anna", "maria", "van", "der", "berg")
    }


def test_parts_of_a_double_name_are_words() -> None:
    words = words_of("x@y.zz", "Jean-Luc", "O'Neill")
    assert {"jean-luc", "luc", "o'neill", "neill"} < words


def test_prefix_words_are_not_stored() -> None:
    assert words_of("anna.berg@example.com", "Anna", "Berg") == {
        *("anna.berg@example.com", "example.com", "berg")
    }


def test_user_without_a_name_is_found_by_email() -> None:
    assert words_of("a@b.cc", "", "  ") == {"a@b.cc", "b.cc"}


def test_long_name_has_few_short_words() -> None:
    words = words_of("a@b.cc", "ﷺ" * 256, " ".join(f"n{number}" for number in range(1000)))
    assert len(words) == MAX_WORDS
    assert "a@b.cc" in words
    assert max(map(len, words)) <= MAX_WORD_LENGTH


def address(**details: str) -> dict[str, str]:
    return dict.fromkeys(ADDRESS_FIELDS, "") | details


def test_every_detail_of_an_address_is_searched() -> None:
    assert set(ADDRESS_FIELDS) == set(MAX_LENGTHS)
    details = {name: f"{place}x" for place, name in enumerate(ADDRESS_FIELDS)}
    assert words_of("a@b.cc", "", "", [details]) == {"a@b.cc", "b.cc", *details.values()}


def test_commas_end_words_of_addresses() -> None:
    words = words_of("a@b.cc", "", "", [address(city="Łódź,", street_address_1="Foo st.,12/4")])
    assert words == {"a@b.cc", "b.cc", "łodz", "foo", "st.,12/4", "12/4", "4"}


def test_addresses_have_few_words_however_many_they_hold() -> None:
    many = [
        address(city=f"c{number}", street_address_1=" ".join(f"{number}s{n}" for n in range(99)))
        for number in range(100)
    ]
    words = words_of("a@b.cc", "Ann", "Berg", many)
    assert {"a@b.cc", "b.cc", "ann", "berg", "c0", "c5"} < words
    assert len(words) <= MAX_ADDRESS_WORDS + MAX_WORDS


@given(st.emails(), st.text(max_size=40), st.text(max_size=40), st.data())
def test_person_with_few_words_is_found_by_any_beginning(
    email: str, first: str, last: str, data: st.DataObject
) -> None:
    words = words_of(email, first, last)
    for word in words:
        beginning = word[: data.draw(st.integers(1, len(word)))]
        assert any(beginning <= word < end_of(beginning) for word in words)
    if len(words) < MAX_WORDS:
        for name in (*first.split(), *last.split()):
            assert not fold(name) or any(
                word.startswith(fold(name)[:MAX_WORD_LENGTH]) for word in words
            )


def test_search_uses_every_word_longest_first() -> None:
    assert read_search(" Ann  MÜLLER ann ") == ("muller", "ann")
    assert read_search("Müller, Ann; ,") == ("muller", "ann", ",")


def test_prefixes_of_other_search_words_are_ignored() -> None:
    assert read_search("an anna ann x") == ("anna", "x")


def test_empty_search_matches_everyone() -> None:
    assert read_search("") == read_search(" \t\n") == ()
    assert read_search("\u0301") == ()


@cases("text", ["nul \0", "\ud800"])
def test_unstorable_search_matches_no_one(text: str) -> None:
    assert read_search(text) is None


def test_search_of_a_thousand_words_uses_a_few() -> None:
    found = read_search(" ".join(f"{number}" for number in range(1000, 2000)))
    assert found is not None
    assert len(found) == MAX_WORDS


@given(st.text(min_size=1, max_size=20).map(fold), st.text(max_size=5))
def test_prefix_end_sorts_after_all_words_with_the_prefix(beginning: str, rest: str) -> None:
    if "\U0010ffff" not in rest:
        assert beginning + rest < end_of(beginning)

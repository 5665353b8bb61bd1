"""What a provider's token says about a second factor."""

from app.domain.second_factors import MAX_STORED_LENGTH, read_methods, write_methods
from app.domain.single_sign_on.provider_tokens import read_session_methods
from app.domain.single_sign_on.providers import Provider
from tests.fixtures.cases import cases

ACR = "urn:example:2fa"


def provider(amr: str = "", acr: str = "") -> Provider:
    return Provider(1, "id", "ID", active=True, second_factor_amr=amr, second_factor_acr=acr)


@cases(
    ("amr", "acr", "claims", "methods"),
    [
        ("mfa", "", {"amr": ["pwd", "mfa"]}, ("pwd", "mfa")),
        ("mfa otp", "", {"amr": ["pwd", "otp"]}, ("pwd", "otp", "mfa")),
        ("otp", "", {"amr": "otp"}, ("otp", "mfa")),
        ("", ACR, {"acr": ACR}, ("mfa",)),
        ("", f"x {ACR}", {"acr": ACR, "amr": ["pwd"]}, ("pwd", "mfa")),
        ("", "", {"amr": ["mfa"], "acr": ACR}, ()),
        ("", "", {"amr": [], "acr": ""}, ()),
        ("mfa", ACR, {}, ()),
        ("mfa", ACR, {"amr": ["pwd"], "acr": "urn:example:1fa"}, ()),
        ("mfa", "", {"amr": ["pwd"], "acr": "mfa"}, ()),
        ("", "mfa", {"amr": ["mfa"]}, ()),
        ("mfa", "", {"amr": ["MFA"]}, ()),
        ("mfa", "", {"amr": "pwd mfa"}, ()),
        ("mfa", ACR, {"amr": {"mfa": True}, "acr": [ACR]}, ()),
        ("mfa", ACR, {"amr": [["mfa"], None, 7], "acr": None}, ()),
        (
            "mfa",
            "",
            {"amr": ["mfa", "pwd otp", "", "\n", "ünlü", "x" * 21, "pwd"]},
            ("pwd", "mfa"),
        ),
    ],
)
def test_listed_values_of_amr_and_acr_mean_a_second_factor(
    amr: str, acr: str, claims: dict[str, object], methods: tuple[str, ...]
) -> None:
    assert read_session_methods(claims, provider(amr, acr)) == methods


def test_stored_methods_are_bounded() -> None:
    many = [f"{number:020}" for number in range(1000)]
    methods = read_session_methods({"amr": [*many, "mfa"]}, provider("mfa"))
    stored = write_methods(methods)
    assert len(stored) <= MAX_STORED_LENGTH
    assert read_methods(stored) == methods
    assert methods[-1] == "mfa"

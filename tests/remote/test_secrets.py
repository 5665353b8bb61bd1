"""Tokens and secrets on the way to another instance, wherever a value of theirs may be logged."""

from pathlib import Path

from app.ports.instance import Profile, WebhookDraft
from app.remote.api import Api, GivenToken
from tests.builders.remote_instances import make_remote_access
from tests.remote.fake_instance import URL, Instance, answering


def test_repr_shows_no_secrets(tmp_path: Path) -> None:
    instance = Instance(answering({"data": {"shop": {}}}))
    api = Api(instance, URL, GivenToken("geheim"))
    api.ask("mutation { x }", password="geheim")
    [sent] = instance.requests
    assert instance.tokens == ["geheim"]
    assert instance.sent(0)["variables"] == {"password": "geheim"}
    values = (
        *(api, sent, make_remote_access(tmp_path, token="geheim")),
        Profile(URL, "geheim", "geheim", "ann@example.com"),
        WebhookDraft(secret_key="geheim", custom_headers={"X-Key": "geheim"}),
    )
    assert "geheim" not in repr(values)

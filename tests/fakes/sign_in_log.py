"""A sign-in log whose refusals a test can look at, and that writes nothing by itself."""

from app.domain.sign_in.sign_in_log import SignInRefusal


class FakeSignInLog:
    """Keeps every refusal."""

    def __init__(self) -> None:
        self.refusals: list[SignInRefusal] = []
        self.user_agents: list[str] = []

    def count_refusal(self, refusal: SignInRefusal, user_agent: str) -> None:
        self.refusals.append(refusal)
        self.user_agents.append(user_agent)

    def flush(self) -> None:
        """There is nowhere to write to."""

"""Flask's extensions without their hooks, which would cost every request, the key set's too."""

from collections.abc import Callable
from typing import Any

from flask import Flask


class WithoutHooks:
    """An application in which an extension is set up, but gets to see no request by itself.

    Whoever needs the extension calls it: a view that is limited checks by its decorator, the
    console checks the token of a form in its own guard.
    """

    def __init__(self, app: Flask) -> None:
        self.config = app.config
        self.extensions = app.extensions
        self.jinja_env = app.jinja_env

    def before_request(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Nothing is looked at before a request."""
        return hook

    def after_request(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Nothing is added to an answer."""
        return hook

    def teardown_request(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """What is remembered of a request goes with it."""
        return hook

    def context_processor(self, processor: Callable[..., Any]) -> Callable[..., Any]:
        """No template gets a value by itself."""
        return processor

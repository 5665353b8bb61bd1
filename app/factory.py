"""Builds the Flask application."""

from flask import Flask


def create_app() -> Flask:
    """The application."""
    return Flask(__name__)

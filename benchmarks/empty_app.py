"""The baseline: an application with one empty view."""

from flask import Flask

from app.web.server import BodyLimits, Server

app = Flask(__name__)


@app.get("/")
def nothing() -> str:
    return ""


server = Server(app, BodyLimits(1024, 1024), on_refusal=lambda *_: ())

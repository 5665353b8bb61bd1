"""The baseline: an application with one empty view."""

from flask import Flask

from app.web.server import Server

app = Flask(__name__)


@app.get("/")
def nothing() -> str:
    return ""


server = Server(app, max_size=1024, max_marked_size=1024, on_refusal=lambda *_: ())

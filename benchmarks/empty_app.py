"""The baseline: an application with one empty view."""

from flask import Flask

from app.web.server import Server

app = Flask(__name__)


@app.get("/")
def nothing() -> str:
    return ""


server = Server(app, most=1024, most_marked=1024)

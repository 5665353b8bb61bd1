"""The yardstick: an application of one view that does nothing."""

from flask import Flask

app = Flask(__name__)


@app.get("/")
def nothing() -> str:
    return ""

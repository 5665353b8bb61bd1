"""`flask shop logo` shows a file's image in emails, and removes it."""

import json
from pathlib import Path

from app.ports import Ports
from tests.builders.audit import trail
from tests.builders.images import png
from tests.commands.shell import run


def test_logo_is_set_shown_and_removed(ports: Ports, tmp_path: Path) -> None:
    file = tmp_path / "logo.png"
    file.write_bytes(png())
    assert run(ports, "shop", "logo", str(file)).exit_code == 0
    assert json.loads(run(ports, "shop", "show", "--json").stdout)["logo"] is True
    assert run(ports, "shop", "logo", "--remove").exit_code == 0
    assert json.loads(run(ports, "shop", "show", "--json").stdout)["logo"] is False
    assert [row.actor_kind for row in trail(ports, "shop.logo")] == ["operator", "operator"]


def test_file_that_is_no_image_is_refused(ports: Ports, tmp_path: Path) -> None:
    file = tmp_path / "logo.svg"
    file.write_text("<svg/>")
    result = run(ports, "shop", "logo", str(file))
    assert result.exit_code == 3
    assert "This file is in the format SVG. Use PNG, JPEG, WebP or GIF." in result.stderr
    missing = run(ports, "shop", "logo", str(tmp_path / "missing.png"))
    assert missing.exit_code == 2
    assert "missing.png: No such file or directory." in missing.stderr
    both = run(ports, "shop", "logo", str(file), "--remove")
    assert (both.exit_code, "either a file or --remove" in both.stderr) == (2, True)
    assert trail(ports, "shop.logo") == []

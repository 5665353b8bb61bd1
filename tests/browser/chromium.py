"""The Chromium of the machine; where there is none and we may, the one its packages offer.

The headless shell comes first: with it the tests take three quarters of the time.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.servers.run import once

NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable"),
)
PACKAGES = ("chromium-headless-shell", "fonts-liberation")
ADVICE = (
    "The browser tests need a Chromium on the PATH ({names}). Install one (Debian: apt-get install"
    " chromium), or leave these tests out: make test ARGS=\"-m 'not browser'\""
).format(names=", ".join(NAMES))

STAYS_HERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
"""For a page no other machine exists, so whatever it fetches from one is missing in the test."""

DISABLED_FEATURES = (
    # A second page behind each window's address bar: as costly as one of the console's.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    # A renderer in reserve, and another frame for each page: a quarter of the time of a page.
    *("SpareRendererForSitePerProcess", "RenderDocument"),
    # What Playwright disables: of two lists, Chromium takes the last.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("TcpPortRandomizationWin", "OptimizationHints", "NetworkTimeServiceQuerying"),
    *("AimEnabled", "PreconnectToSearch", "msForceBrowserSignIn"),
    "msEdgeUpdateLaunchServicesPreferredVersion",
)


def chromium_path(run_directory: Path) -> str:
    """Where Chromium is; root on a Debian gets it installed, once for all workers of the run.

    Raises ``FileNotFoundError`` that says what to do where there is none to be had.
    """
    found = _on_the_path()
    return str(found) if found else once(run_directory, "chromium", _install)


def launch_arguments(run_directory: Path) -> dict[str, object]:
    """What Playwright must be told."""
    return {"executable_path": chromium_path(run_directory), "args": switches()}


def switches() -> list[str]:
    """What Chromium must be told; its sandbox does not work for root."""
    told = [STAYS_HERE, f"--disable-features={','.join(DISABLED_FEATURES)}"]
    return told if os.geteuid() else ["--no-sandbox", *told]


def _on_the_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def _install() -> str:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise FileNotFoundError(ADVICE)
    apt = [
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-o",
        "DPkg::Lock::Timeout=300",
        "-y",
    ]
    for command in (["update"], ["install", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run([*apt, *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise FileNotFoundError(f"{ADVICE}\n{done.stdout}{done.stderr}")
    found = _on_the_path()
    if found is None:
        raise FileNotFoundError(ADVICE)
    return found

"""The headless shell of Chromium, installed for root on a Debian; else the machine's own Chromium.

With the shell a page takes 0.6 of the processor time: it draws no windows around pages.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.servers.run import once

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = (SHELL, "fonts-liberation")
SECONDS = 300
"""How long a command of apt may take."""

APT = (
    *("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-o", "DPkg::Lock::Timeout=200"),
    *("-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=0"),
)
ADVICE = (
    "The browser tests need a Chromium on the PATH ({names}). Install one (Debian: apt-get install"
    " chromium), or leave these tests out: make test ARGS=\"-m 'not browser'\""
).format(names=", ".join(NAMES))

STAYS_HERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
"""For a page no other machine exists, so whatever it fetches from one is missing in the test."""

ONE_RENDERER = "--renderer-process-limit=1"
"""The pages of a context share a process, which begins with the blank page of each."""

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
    return shutil.which(SHELL) or once(run_directory, "chromium", _install)


def launch_arguments(run_directory: Path) -> dict[str, object]:
    """What Playwright must be told."""
    return {"executable_path": chromium_path(run_directory), "args": switches()}


def switches() -> list[str]:
    """What Chromium must be told; its sandbox does not work for root."""
    told = [STAYS_HERE, ONE_RENDERER, f"--disable-features={','.join(DISABLED_FEATURES)}"]
    return told if os.geteuid() else ["--no-sandbox", *told]


def _on_the_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def _install() -> str:
    """Install the shell; without it, return the machine's own Chromium."""
    told = _install_shell()
    found = _on_the_path()
    if found is None:
        raise FileNotFoundError(f"{ADVICE}\n{told}")
    return found


def _install_shell() -> str:
    """Return what went wrong; what is installed stays so."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return ""
    install = ("install", "--no-install-recommends", "--no-remove", *PACKAGES)
    told = ""
    # The list of packages may be missing or old.
    for commands in ([install], [("update",), install]):
        for command in commands:
            told = _run_apt(command)
        if not told:
            break
    return told


def _run_apt(command: tuple[str, ...]) -> str:
    """Return what a command of apt said if it failed."""
    try:
        done = subprocess.run(
            [*APT, *command], capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"apt-get {command[0]} took more than {SECONDS} seconds."
    return f"{done.stdout}{done.stderr}" if done.returncode else ""

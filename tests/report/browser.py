"""A headless Chromium, driven by its own flags: the page as it becomes, its console, its requests.

Every name is made to resolve to nothing, so that a request fails at once and is seen all the same.
"""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # CI is often root in a container; the page is our own
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--allow-file-access-from-files",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=5000",
    "--enable-logging=stderr",
)


class Visit(NamedTuple):
    """What a page became: its elements, what stood in the console, which addresses it asked for."""

    dom: str
    console: list[str]
    requests: list[str]


@cache
def executable() -> str | None:
    """The browser's path; None where there is none that runs (Ubuntu has one that only says so)."""
    for path in filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        if subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    return None


def visit(address: str, folder: Path, *flags: str) -> Visit:
    """Open an address in a browser of its own; its files go to ``folder``."""
    log = folder / "net.json"
    given = (*FLAGS, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}", *flags)
    done = subprocess.run(
        [executable(), *given, "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True, encoding="utf8"
    )  # fmt: skip
    text = log.read_text(encoding="utf8").rstrip()
    content = json.loads(text if text.endswith("}") else f"{text.rstrip(',')}]}}")
    kind = content["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [event.get("params", {}) for event in content["events"] if event["type"] == kind]
    # The browser itself asks for some, without an origin.
    urls = [
        item["url"] for item in asked if "url" in item and item.get("initiator") != "not an origin"
    ]
    return Visit(done.stdout, re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr), urls)

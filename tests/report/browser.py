"""A headless Chromium, driven by its flags: the page after its script has run, and its console."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # CI is often root in a container; the page is our own
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=5000",
    "--enable-logging=stderr",
)


@cache
def executable() -> str | None:
    """The browser's path; None if none runs (Ubuntu's may be only a hint to install one)."""
    for path in filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        if subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    return None


def visit(address: str, folder: Path) -> tuple[str, list[str]]:
    """A page's elements and the lines of its console; the browser's files go to ``folder``."""
    done = subprocess.run(
        [executable(), *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True, encoding="utf8"
    )  # fmt: skip
    return done.stdout, re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr)

"""``bottleneck table runs``: the runs of a folder, finished or not."""

from pathlib import Path

from ..settings.errors import UserError
from .console import say


def print_runs(folder: Path) -> None:
    """Print a line per run of a folder's store: its name, status and arm, and why it failed."""
    from ..results.folders import STORE, check_one, read_experiments, read_settings, read_status
    from ..runs.store import run_folders

    stored = run_folders(folder / STORE) or run_folders(folder)
    if not stored:
        check_one(folder)
        raise UserError(f"{str(folder)!r} holds no run folders: it is a bundle or has no results")
    names = {
        run: f"{experiment or 'replaced'}: {arm}"
        for experiment, members in read_experiments(stored[0].store).items()
        for run, (arm, _) in members.items()
    }
    rows = [("run", "status", "arm")]
    for item in stored:
        status = item.status
        try:
            settings = read_settings(item.path)
            model, seed = settings.model, settings.training.seed
            other = f"{model.attention} context_size={model.context_size}"
            text = f"{names.get(item.run, other)} seed {seed}"
        except UserError:  # a file that is not there, is damaged or of another version
            text = "(settings not known)"
        reason = "" if status == "damaged" else read_status(item.path).get("reason", "")
        last = "".join(f": {line}" for line in reason.splitlines()[-1:])  # of a traceback
        rows.append((item.run, status, f"{text}{last}"))
    first, second = (max(len(row[place]) for row in rows) for place in (0, 1))
    for run, status, text in rows:
        say(f"{run:<{first}}  {status:<{second}}  {text}")
    say(f"Their files: {stored[0].store}")

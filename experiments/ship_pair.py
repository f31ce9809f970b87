"""Put a trained pair into the package: ``python experiments/ship_pair.py FOLDER...``.

FOLDER is an output folder of preset ``lecture``, of which the latest arms are used, or a run's
folder.
"""

import re
import shutil
import sys
from datetime import date
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from seq2seq_bottleneck.results import folders
from seq2seq_bottleneck.results.folders import SHIPPED, STORE
from seq2seq_bottleneck.settings.files import seal, write_file
from seq2seq_bottleneck.settings.run import resolve

UNUSED = ("checkpoint*", "examples*", "hypotheses*", "log*", "sentences*", ".*")

if __name__ == "__main__":
    runs = [run for name in sys.argv[1:] for run in folders.arms(Path(name)).values()]
    shutil.rmtree(SHIPPED / STORE, ignore_errors=True)
    members = {}
    for run in runs:
        copy = SHIPPED / STORE / run.name
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns(*UNUSED))
        facts = folders.read_object(run / "environment.json")
        facts["command"] = re.sub(r" --out \S+", "", facts["command"])  # a path on this machine
        write_file(copy / "environment.json", folders.json_text(facts))
        weights = load_file(run / "weights.safetensors").items()
        halved = {name: array.astype(np.float16) for name, array in weights}
        write_file(copy / "weights.safetensors", save(halved))
        seal(copy, ["status.json"])
        settings = folders.read_settings(run)
        arm = settings.model.attention
        members[run.name] = [arm, "" if arm == "none" else "none"]
    usual = resolve("lecture", [f"model.attention={arm}"]).model_dump()
    changed = [
        f"{section}.{name}={value}"
        for section, values in settings.model_dump().items()
        for name, value in values.items()
        if value != usual[section][name] and name != "seed"
    ]
    day = date.fromtimestamp((run / "status.json").stat().st_mtime)
    about = ["preset lecture", *changed, f"seed {settings.training.seed}", f"trained {day}"]
    write_file(SHIPPED / "experiments.json", folders.json_text({", ".join(about): members}))
    seal(SHIPPED, ["README.md"])

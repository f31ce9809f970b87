"""Write `numbers.json.gz`: ``nice python tests/golden/record.py [WORD ...]``.

Without words everything is recorded, in some minutes: each table and figure that each committed
bundle can give, and the other commands below. With words only the outputs whose command has all
of them are, and the rest stay as they are: ``record.py table survival``.
What changed is printed. Read it, and commit the file with the change of code that explains it.
"""

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import golden_outputs as golden

OTHERS = """
table claims --results reference --format csv
lecture --format csv
lecture --results reference/bench --format csv
lecture L7 --format csv
lecture L14 --format csv
export --results reference/vindication -o page.html
export --results reference/vindication --results reference/controls --bundle two && table arms --results two --where experiment=controls --format csv
score a.txt --references ref.txt --sources src.txt --format csv
score b.txt --references ref.txt --sources src.txt --edges 1,21,41 --format csv
score a.txt b.txt --references ref.txt --sources src.txt --trials 500 --format csv
corpus grammar --preset smoke --set corpus.train_pairs=60 -n 20
corpus grammar --preset smoke --set corpus.train_pairs=60 --set corpus.lexicon=small -n 20
corpus copy --preset smoke -n 3
reproduce --preset smoke --quiet --out smoke && export --results smoke
reproduce --preset smoke --quiet --out smoke && table arms --results smoke --format csv
sweep two.toml --quiet --jobs 1 --out whole && export --results whole
"""  # noqa: E501


def candidates(folder: Path) -> list[str]:
    """All commands that may have an output; of tables and figures not all can be made."""
    bundles = sorted(
        path.parent for path in (golden.ROOT / "results" / "reference").glob("*/SHA256SUMS")
    )
    lines = OTHERS.strip().splitlines()
    for kind, options in (("table", "--format csv"), ("plot", "-o figure.svg")):
        names = [
            line.split()[0]
            for line in golden.printed(kind, folder).splitlines()
            if line.strip() and not line.startswith("runs ")
        ]
        for bundle in bundles:
            results = f"--results reference/{bundle.name}"
            lines += [f"{kind} {name} {results} {options}" for name in names]
    for bundle in bundles:
        lines.append(f"export --results reference/{bundle.name}")
    return lines


def record(words: list[str]) -> None:
    """Record the commands that have all ``words``, and print what changed."""
    known: dict[str, golden.Columns] = golden.load() if golden.STORED.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        golden.write_inputs(folder)
        chosen = [line for line in candidates(folder) if all(word in line for word in words)]
        outputs = {k: v for k, v in known.items() if not all(word in k for word in words)}
        for line in chosen:
            try:
                with contextlib.redirect_stderr(io.StringIO()):
                    outputs[line] = golden.answer(line, folder)
            except ChildProcessError:
                continue
            changes = golden.differences(known[line], outputs[line]) if line in known else ["new"]
            for change in changes:
                print(f"{line}: {change}")
    for line in known.keys() - outputs.keys():
        print(f"no longer there: {line}")
    golden.save(outputs)
    print(f"{len(outputs)} outputs, {golden.STORED.stat().st_size:,} bytes in {golden.STORED.name}")


if __name__ == "__main__":
    record(sys.argv[1:])

"""Every mistake of a user gives one plain line on stderr, the right exit code, and no files."""

import gzip
import os
import shutil
import subprocess
import sys

import pytest
from disturbed import state
from ordinary_user import bottleneck
from planted import write_planted
from planted_arms import LOW, Store
from planted_cost import plant_costs
from small_sweeps import FOUR

from seq2seq_bottleneck.settings.machine import NUMBERS

ARMS = {"none": LOW, "additive": [0.1] * 5}
TOMLS = {"mine": FOUR, "misspelt": FOUR + "contxt = 3\n"}
NO_RUNS = "is a bundle without its run folders"
TRAINED_ELSEWHERE = f"{NO_RUNS} ... where its runs were trained, or train them into a new folder"
SEVERAL = "holds folders of results (controls, vindication): name one of them"
GIVE_FILES = "give --source FILE and --target FILE, or one .tsv file of two columns"
CORPUS = "--set corpus.name=files --set corpus.source="
MADE = "{reproduce,sweep vindication} --preset smoke --out made"
FILES = "files --preset smoke --source a.en --target"
TESTED = "--references a.fr --sources a.en"
SCORE = f"score a.fr {TESTED}"
MINE = "sweep mine.toml"
NO_COUNT = "{0,-1,2.5,many}"

USAGE = {
    "reproduse": "reproduse ... (see `bottleneck --help`)",
    "reproduce --seeds 0": "--seeds ... 1",
    "{reproduce,corpus files} --preset smoke --source a.en": GIVE_FILES,
    "sweep vindicate": "'vindicate' ... did you mean",
    "sweep none.toml": "none.toml ... No such file",
    "sweep vindication --preset smok": "bottleneck: unknown preset 'smok'; did you mean 'smoke'",
    "sweep misspelt.toml": "misspelt.toml ... model.contxt ... model.context_size",
    "sweep --context-size 0": "command line: setting 'model.context_size': input should be",
    "sweep --attention none,dit --dry-run": "'model.attention' ... not 'dit'",
    "{plot,study} failure_pattern": "failure-pattern is a table: bottleneck table failure-pattern",
    "reproduce --context-size 64,256": "reproduce takes one value; `bottleneck sweep` takes a list",
    "settings contxt_size": "unknown setting 'contxt_size'; did you mean 'model.context_size'?",
    "corpus multi3k --fetch": "no corpus 'multi3k' to fetch; did you mean",
    "translate {,--diagnose} '  '": "empty",
    "{translate 'a,plot attention --sentence '}\udc80'": "not UTF-8",
    "table failurepattern": "unknown table 'failurepattern'; did you mean 'failure-pat",
    "table cost --where seed=1 --results bench": "--where: table cost uses no trained runs",
    "table vindication --format txt": "'--format': 'txt' is not one of ... latex",
    "table vindication -o x.txt --results out": "'x.txt': the name of a table ends in .csv, .md",
    "export -o x --bundle b --results out": "give only one of them",
    "study length --gold g": "go together, and are for study alignment",
    "lecture L77": "unknown id 'L77'; did you mean 'L7'?",
    "claims --results out": "claims is now `bottleneck table claims`",
    "corpus show copy": "corpus show is now `bottleneck corpus NAME`",
    f"{SCORE} --edges {{5,x,5}}": "edges ' ... two or more",
    f"{MINE} {{--seeds-together,--threads}} {NO_COUNT}": "Invalid value for '--",
}
"""Exit code 2: the message about a command line, its parts separated by dots."""
REFUSED = {
    "{table vindication,export,table runs}": "or name one with --results DIR",
    "{table runs,lecture L10,study survival} --results sweeps": SEVERAL,
    "{table vindication,export,plot bleu -o bleu.png} --results bench": "no results in ... 'bench'",
    "{export,table runs} --results {/dev/null,loop,pipe,a.en}": "' is not a folder: name one that",
    "{table arms,export,table runs} --results out/runs/none1x1": "is one run ... store ... /out'",
    "translate 'the cat' --results bundle": TRAINED_ELSEWHERE,
    "reproduce --preset smoke --out bundle": TRAINED_ELSEWHERE,
    "{table,plot} alignment --results bundle": "'bundle' ... `bottleneck study alignment --results",
    "table length --results 'a copy'": "`bottleneck study length --results DIR` measures them",
    "translate hello --results empty": "'empty'",
    "study length --results thre {,--dry-run}": "in 'thre' ... `bottleneck reproduce` trains some",
    "study capacity": "in 'results/runs/capacity' ... `bottleneck sweep capacity` trains some",
    "study {embeddings,alignment} --results text-files": "text-files' that ... trains some",
    f"corpus {FILES} short.fr": "60 ... 59 ... a.en ... short.fr",
    "corpus tatoeba": "'tatoeba' is not on this machine; `bottleneck corpus tatoeba --fetch",
    "reproduce --preset smoke --out a.en/out": "a.en/out ... cannot write",
    # Before any run starts; progress is on, but prints no line.
    f"{MADE} {CORPUS}absent.en --set corpus.target=a.fr": "absent.en ... does not exist",
    f"{MADE} --corpus multi30k": "`bottleneck corpus multi30k --fetch`",
    f"score broken.fr.gz {TESTED}": "'broken.fr.gz' is not a complete gzip file",
    f"score short.fr {TESTED}": "'short.fr' has 59 lines ... 'a.fr' has 60",
}
"""Exit code 1."""


def sentences(count: int) -> str:
    """Distinct lines of 5 to 16 words."""
    lines = [[f"x{n}", *(f"w{place}" for place in range(4 + n % 12))] for n in range(count)]
    return "".join(f"{' '.join(line)}\n" for line in lines)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with results of all kinds, texts and sweeps."""
    place = tmp_path_factory.mktemp("place")
    write_planted(place / "out", ARMS, seeds=1)
    for name in ("a copy", "sweeps/controls", "sweeps/vindication"):
        shutil.copytree(place / "out", place / name)
    shutil.copytree(place / "out", place / "bundle", ignore=shutil.ignore_patterns("runs"))
    Store(place / "text-files").add("own", "none", LOW, corpus={"name": "files"}).write()
    plant_costs(place / "bench")
    (place / "empty").mkdir()
    (place / "loop").symlink_to("loop")
    os.mkfifo(place / "pipe")
    text = sentences(60)
    for name in ("a.en", "a.fr"):
        (place / name).write_text(text)
    (place / "short.fr").write_text(sentences(59))
    (place / "broken.fr.gz").write_bytes(gzip.compress(text.encode())[:-9])
    for name, content in TOMLS.items():
        (place / f"{name}.toml").write_text(content)
    return place


def expanded(line: str) -> list[str]:
    """The lines that a shell's brace expansion gives."""
    start, brace, rest = line.partition("{")
    choices, _, end = rest.partition("}")
    if not brace:
        return [line]
    return [text for choice in choices.split(",") for text in expanded(f"{start}{choice}{end}")]


MISTAKES = [
    pytest.param(line, code, parts, id=line[:70])
    for code, table in ((2, USAGE), (1, REFUSED))
    for lines, parts in table.items()
    for line in expanded(lines)
]


@pytest.mark.parametrize(("line", "code", "parts"), MISTAKES)
def test_a_mistake_is_one_line_and_changes_nothing(
    line, code, parts, place, fails, tmp_path, monkeypatch
):
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = state(place)
    message = fails(line, code=code)
    assert all(part in message for part in parts.split(" ... ")), message
    assert state(place) == before


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("export --bundle", "results.bundle.Results.open"),
        ("export -o", "report.page.write_report"),
        ("plot bleu -o", "figures.registry.make_figure"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_read(
    line, module, place, fails, monkeypatch
):
    def refuse(*_, **__):
        raise AssertionError("read before the place was looked at")

    monkeypatch.setattr(f"seq2seq_bottleneck.{module}", refuse)
    monkeypatch.chdir(place)
    before = state(place)
    assert "'a.en" in fails(line, "a.en/below.html --results out")
    assert state(place) == before


@pytest.mark.exhaustive(sample="session")
def test_an_error_in_a_worker_reaches_the_user_as_one_line(tmp_path, fails):
    diverging = "--corpus copy --set training.learning_rate=3e38 --set training.clip_norm=1e30"
    message = fails("reproduce --preset smoke --quiet", diverging, "--out", tmp_path / "out")
    assert "diverged" in message
    assert "learning_rate" in message
    assert not (tmp_path / "out" / "runs.csv").exists()


# In a process with its own streams, environment and folder.


def test_an_answer_for_a_closed_standard_output_is_an_error(tmp_path):
    command = ["sh", "-c", 'exec "$0" -m seq2seq_bottleneck --version >&-', sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "bottleneck: the output: Bad file descriptor\n"


@pytest.mark.slow
def test_variables_that_would_make_other_numbers_are_ignored(tmp_path):
    code = (
        "import os, sys, seq2seq_bottleneck.cli.main as cli\n"
        "cli.run = lambda _: print(*map(os.environ.get, sys.argv[1:])) or 0\n"
        "cli.main()"
    )
    others = dict.fromkeys(NUMBERS, "other")
    done = bottleneck([*NUMBERS], tmp_path, program=["-c", code], **others)
    assert done.stdout.split() == [*NUMBERS.values()]

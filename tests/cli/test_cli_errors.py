"""Whatever a user gets wrong: one plain line on stderr, the right exit code, nothing left over."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from disturbed import state
from ordinary_user import bottleneck
from planted import write_planted, write_sizes
from planted_arms import LOW, Store
from planted_cost import plant_costs
from small_sweeps import FOUR

from seq2seq_bottleneck.settings.machine import NUMBERS

ARMS = {"none": LOW, "additive": [0.1] * 5}
BENCH = Path(__file__).parents[2] / "results" / "reference" / "bench"
TOMLS = {
    "mine": FOUR,
    "misspelt": FOUR + "contxt = 3\n",
    "broken": "model = [",
    "comment": "# Why?\n",
    "textless": '# Why?\ncorpus.name = "files"\n',
}
FOLDER = "this command's folder is named by"
NO_RUNS = "is a bundle without its run folders"
TRAINED_ELSEWHERE = f"{NO_RUNS} ... where its runs were trained, or train them into a new folder"
SEVERAL = "holds folders of results (controls, vindication): name one of them"
GIVE_FILES = "give --source FILE and --target FILE, or one .tsv file of two columns"
OF_RUNS = (
    "{table vindication,export,plot bleu -o bleu.png,plot survival -o survival.png,runs,"
    "translate 'the cat',diagnose,lecture L10,study survival} --results"
)
"""Commands that want a folder of runs; braces mean what they do in a shell."""
CORPUS = "--set corpus.name=files --set corpus.source="
LONG = "b" * 5_000
CIRCLE = "Too many levels of symbolic links"
TOO_LONG = "File name too long"
MADE = "{reproduce,sweep vindication} --preset smoke --out made"
FILES = "files --preset smoke --source a.en --target"
TESTED = "--references a.fr --sources a.en"
SCORE = f"score --hypotheses a.fr {TESTED}"
MINE = "sweep mine.toml"
NO_COUNT = "{0,-1,2.5,many}"

USAGE = {
    "reproduse": "reproduse ... (see `bottleneck --help`)",
    "reproduce --seeds 0": "--seeds ... 1",
    "reproduce --set model.attention=none": "attention=none ... additive",
    "{reproduce,corpus describe files} --preset smoke --source a.en": GIVE_FILES,
    "reproduce --threads 1025 --preset smoke": "--threads ... 1024",
    "{reproduce,sweep controls} --results=x": f"No such option: --results: {FOLDER} --out (see",
    "sweep vindicate": "'vindicate' ... did you mean",
    "sweep none.toml": "none.toml ... No such file",
    "sweep vindication --preset smok": "bottleneck: unknown preset 'smok'; did you mean 'smoke'",
    f"sweep {LONG}.toml": TOO_LONG,
    "sweep misspelt.toml": "misspelt.toml ... model.contxt ... model.context_size",
    "sweep comment.toml": "comment.toml: it sets nothing",
    "sweep --context-size 0": "command line: setting 'model.context_size': input should be",
    "sweep --attention none,dit --dry-run": "'model.attention' ... not 'dit'",
    "sweep mine.toml --save a.toml": "--save is for a typed sweep",
    "sweep survival": "survival is a study: bottleneck study survival",
    "{plot,study} failure_pattern": "failure-pattern is a table: bottleneck table failure-pattern",
    "table bleu": "bleu is a figure: bottleneck plot bleu",
    "reproduce --context-size 64,256": "reproduce takes one value; `bottleneck sweep` takes a list",
    "settings contxt_size": "unknown setting 'contxt_size'; did you mean 'model.context_size'?",
    "{sweep textless.toml,reproduce --corpus files,corpus show files}": GIVE_FILES,
    "corpus fetch multi3k": "no corpus 'multi3k' to fetch; did you mean",
    "corpus describe grammar --test tatoeba": "test=tatoeba is for real text",
    "{translate,diagnose} '  '": "empty",
    "{translate 'a,diagnose 'the,plot attention --sentence '}\udc80'": "not UTF-8",
    "diagnose '?!'": "no words",
    "translate the black cat --beam 2": "black cat ... in quotes ... bottleneck translate --help",
    "table failurepattern": "unknown table 'failurepattern'; did you mean 'failure-pat",
    "table cost --where seed=1 --results bench": "about no runs: --where",
    "study cost --results bench --seeds 2": "about no runs: --seeds",
    "table vindication --format txt": "'--format': 'txt' is not one of ... latex",
    "table vindication -o x.txt --results out": "'x.txt': the name of a table ends in .csv, .md",
    "table {arms,length} --like-slide --results out": "--like-slide is for failure-pattern, vind",
    "claims --out x": f"No such option: --out: {FOLDER} --results (see",
    "export -o x --bundle b --results out": "give one of them",
    "study length --gold g": "go together, and are for study alignment",
    "study alignment --results out --gold g --source s --target t --seeds 3": "runs ... --where",
    "lecture L77": "unknown id 'L77'; did you mean 'L7'?",
    "bench --arms additiv": "'additiv' ... 'additive'",
    f"score {TESTED}": "--hypotheses",
    "lecture C3": "`bottleneck claims` decides",
    f"{SCORE} --edges {{5,x,5}}": "edges ' ... two or more",
    "{reproduce,sweep vindication} --set scoring.tokenize=14a": "no tokenizer '14a' ... '13a'",
    "compare a.fr a.en": "system A 'a.fr' ... --references and --sources",
    "compare out a.fr": "system A 'out' ... not the folder of one run",
    f"{MINE} --scheduler {{'',127.0.0.1,http://here:8786,tcp://here}}": "--scheduler ... tcp://HOST:PORT",
    f"{MINE} {{--seeds-together,--threads}} {NO_COUNT}": "Invalid value for '--",
    f"{MINE} --scheduler tcp://10.0.0.1:8786 {{--threads,--seeds-together}} 2": "not for a cluster",
}
"""Exit code 2: what is said of a command line, its parts separated by dots."""
REFUSED = {
    "{table vindication,export,runs}": "or name one with --results DIR",
    "{runs,translate 'the cat',diagnose,lecture L10,study survival} --results sweeps": SEVERAL,
    "study capacity --results sweeps --preset smoke": SEVERAL,
    f"{OF_RUNS} bench": "'bench' holds a benchmark and no runs: `bottleneck table cost`",
    "{export,runs,claims,plot bleu,study survival} --results {/dev/null,loop,pipe,a.en}": (
        "' is not a folder: name one that"
    ),
    "claims --results nowhere": "'nowhere' is not a folder: name one that",
    "{table vindication,export,runs} --results out/runs/none1x1": "is one run ... store ... /out'",
    "{translate 'the cat',diagnose} --results bundle": TRAINED_ELSEWHERE,
    "{runs none1x1,study survival} --results bundle": f"{NO_RUNS} ... where its runs were trained",
    "{reproduce,sweep vindication} --preset smoke --out bundle": TRAINED_ELSEWHERE,
    "{table,plot} alignment --results bundle": "'bundle' ... `bottleneck study alignment --results",
    "{table,plot} alignment-gold --results bundle": "'bundle' ... --target FILE --results DIR`",
    "table length --results 'a copy'": "`bottleneck study length --results DIR` measures it",
    "{reproduce --preset smoke --quiet --out,translate hello --results} loop": CIRCLE,
    f"{{table vindication,runs,translate hello}} --results {LONG}": TOO_LONG,
    f"{{corpus describe files --target a.fr --source,{SCORE} --sources}} loop": CIRCLE,
    "study cost": "`bottleneck bench --out results/runs/bench`",
    "translate hello {--results,--run} empty": "'empty'",
    "study length --results thre {,--dry-run}": "'thre' ... say which",
    "study {embeddings,alignment} --results text-files": "text-files' that ... (corpus files)",
    "study {embeddings,alignment} --results text-copy": "text-copy' that ... (corpus copy)",
    f"corpus {{describe,show}} {FILES} short.fr": "60 ... 59 ... a.en ... short.fr",
    "corpus describe tatoeba": "'tatoeba' is not on this machine; `bottleneck corpus fetch",
    "sweep context_size --corpus europarl --dry-run": "`bottleneck corpus fetch europarl`",
    "reproduce --preset smoke --out a.en/out": "a.en/out ... cannot write",
    # Before any run starts, with progress shown: not a line of it.
    f"{MADE} {CORPUS}absent.en --set corpus.target=a.fr": "absent.en ... does not exist",
    f"{MADE} {CORPUS}a.en --set corpus.target=short.fr": "60 ... 59",
    f"{MADE} --corpus multi30k": "`bottleneck corpus fetch multi30k`",
    f"score --hypotheses absent {TESTED}": "absent ... exist",
    f"score --hypotheses broken.fr.gz {TESTED}": "'broken.fr.gz' is no whole gzip file",
    f"{SCORE} --edges 5,40": "60 sentences ... 5-39 ... two",
    f"score --hypotheses short.fr {TESTED}": "'short.fr' has 59 lines ... 'a.fr' has 60",
    "score --hypotheses a.fr --references a.fr --sources short.fr": "--sources 'short.fr' has 59",
    f"compare short.fr a.en {TESTED}": "system A ... 'short.fr' has 59 lines",
}
"""Exit code 1."""


def sentences(count: int) -> str:
    """Distinct lines of 5 to 16 words."""
    lines = [[f"x{n}", *(f"w{place}" for place in range(4 + n % 12))] for n in range(count)]
    return "".join(f"{' '.join(line)}\n" for line in lines)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Results of all kinds, texts and sweeps."""
    place = tmp_path_factory.mktemp("place")
    write_planted(place / "out", ARMS, seeds=1)
    for name in ("a copy", "sweeps/controls", "sweeps/vindication"):
        shutil.copytree(place / "out", place / name)
    shutil.copytree(place / "out", place / "bundle", ignore=shutil.ignore_patterns("runs"))
    write_sizes(place / "sizes", {(size, arm): LOW for size in (8, 16) for arm in ARMS})
    for text in ("files", "copy"):
        Store(place / f"text-{text}").add("own", "none", LOW, corpus={"name": text}).write()
    plant_costs(place / "bench")
    (place / "empty").mkdir()
    for name in ("loop", "loop.toml"):
        (place / name).symlink_to(name)
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
    """The lines that a shell makes of braces."""
    start, brace, rest = line.partition("{")
    choices, _, end = rest.partition("}")
    if not brace:
        return [line]
    return [text for choice in choices.split(",") for text in expanded(f"{start}{choice}{end}")]


MISTAKES = [
    pytest.param(
        line, code, parts, id=line[:70], marks=[pytest.mark.slow] * (parts in (CIRCLE, TOO_LONG))
    )
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
        ("export -o", "results.bundle.Results.open"),
        ("export --bundle", "results.bundle.Results.open"),
        ("report -o", "report.page.write_report"),
        ("table arms -o", "results.bundle.Results.open"),
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
    assert "'a.en" in fails(line, "a.en/below.png --results out")
    if line.endswith("-o"):
        assert "'empty" in fails(line, "empty --results out")
    assert state(place) == before


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (f"{CORPUS}a.en --set corpus.target=a.fr --set scoring.edges=5,40", ["5-39", "two"]),
        (
            "--corpus copy --set training.learning_rate=3e38 --set training.clip_norm=1e30",
            ["diverged", "learning_rate"],
        ),
    ],
    ids=["buckets", "diverged"],
)
def test_an_error_in_a_worker_reaches_the_user_as_one_line(
    options, parts, place, tmp_path, fails, monkeypatch
):
    monkeypatch.chdir(place)
    message = fails("reproduce --preset smoke --quiet", options, "--out", tmp_path / "out")
    assert all(part in message for part in parts), message
    assert not (tmp_path / "out" / "runs.csv").exists()


# In a process of its own: its streams, its environment, its folder.


def shell(line: str, folder: Path) -> tuple[int, str, str]:
    """The exit code and both outputs of a line of a shell, in which $0 is Python."""
    command = ["sh", "-c", line, sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_an_error_that_cannot_be_written_is_one_all_the_same(tmp_path):
    line = 'exec "$0" -m seq2seq_bottleneck sweep nothing 2>/dev/full'
    assert shell(line, tmp_path) == (2, "", "")


@pytest.mark.parametrize(
    "arguments", ["--version", pytest.param("lecture L7", marks=pytest.mark.slow)]
)
def test_an_answer_for_a_closed_standard_output_is_an_error(arguments, tmp_path):
    line = f'exec "$0" -m seq2seq_bottleneck {arguments} >&-'
    assert shell(line, tmp_path) == (1, "", "bottleneck: the output: Bad file descriptor\n")


@pytest.mark.slow
def test_what_would_make_other_numbers_is_not_taken_from_the_environment(tmp_path):
    code = (
        "import os, sys, seq2seq_bottleneck.cli.main as cli\n"
        "cli.run = lambda _: print(*map(os.environ.get, sys.argv[1:])) or 0\n"
        "cli.main()"
    )
    others = dict.fromkeys(NUMBERS, "other")
    done = bottleneck([*NUMBERS], tmp_path, program=["-c", code], **others)
    assert done.stdout.split() == [*NUMBERS.values()]


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    "variables",
    [
        {"XDG_CACHE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"},
        {"MPLBACKEND": "module://a_notebooks.own_backend"},
    ],
    ids="-".join,
)
def test_matplotlib_says_nothing_of_where_it_runs(variables, tmp_path):
    """A cache that is none; a notebook's kernel names its backend to all that it starts."""
    done = bottleneck(["plot", "cost", "-o", "a.pdf", "--results", BENCH], tmp_path, **variables)
    assert done.returncode == 0
    assert done.stderr in ("", "a.pdf: its numbers are in a.csv\n")
    assert (tmp_path / "a.pdf").stat().st_size > 1_000


@pytest.mark.slow
def test_a_sign_that_the_terminal_lacks_is_no_failure(tmp_path):
    done = bottleneck(["lecture", "L10"], tmp_path, PYTHONIOENCODING="ascii", COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("L10")

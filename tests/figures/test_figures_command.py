"""``bottleneck plot`` as a user meets it: files, their bytes, and errors."""

import csv
from xml.etree import ElementTree

import pytest
from planted_probes import plant

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.figures.registry import image, make_figure

BEGINS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("ending", BEGINS)
def test_equal_data_give_equal_bytes_in_each_format(ending, tmp_path):
    plant(tmp_path, "length")
    first, again = (image(make_figure("length", tmp_path)[0], ending) for _ in range(2))
    assert first.startswith(BEGINS[ending])
    assert first == again


def test_the_numbers_lie_beside_the_figure(tmp_path, capsys):
    plant(tmp_path, "length")
    made = tmp_path / "slides" / "how long.SVG"
    assert run(["plot", "length", "--results", str(tmp_path), "-o", str(made)]) == 0
    assert capsys.readouterr().out == f"{made}: its numbers are in {made.with_suffix('.csv')}\n"
    assert made.read_bytes().startswith(b"<?xml")
    with made.with_suffix(".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    _, data = make_figure("length", tmp_path)
    assert [float(row["value"]) for row in rows] == pytest.approx(list(data["value"]), rel=1e-5)
    assert [row["kind"] for row in rows] == list(data["kind"])


def test_text_of_a_drawing_is_text_with_fonts_of_every_system(tmp_path):
    plant(tmp_path, "length")
    drawing = image(make_figure("length", tmp_path)[0], ".svg").decode()
    texts = [node for node in ElementTree.fromstring(drawing).iter() if node.tag.endswith("}text")]
    assert "source words" in " ".join(node.text or "" for node in texts)
    assert "'DejaVu Sans', 'Verdana', 'Arial'" in drawing


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["length", "-o", "a.jpg"], 2, "'a.jpg': the name of a figure ends in .png, .svg, .pdf"),
        (["survivals"], 2, "did you mean 'survival'?"),
        (["survival"], 1, "`bottleneck study survival --results"),
        (["length", "--where", "seed=1"], 2, "--where chooses runs"),
        (["alignment-gold", "--where", "seed=1"], 2, "`bottleneck study alignment --gold FILE")
    ]
)  # fmt: skip
def test_errors_name_the_way_out_and_leave_no_file(
    arguments, code, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert run(["plot", *arguments, "--results", str(tmp_path)]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []

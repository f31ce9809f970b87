"""Pairing the laws of Canada: by hand, and from a zip archive with faults in it."""

import gzip
from pathlib import Path
from xml.etree.ElementTree import ParseError

import pytest
from loopback import zipped

from seq2seq_bottleneck.corpus.named.laws import (
    _DoctypeError,
    documents,
    fits,
    french_name,
    pairs_of,
    parse,
    split_of,
    unpack_laws,
)
from seq2seq_bottleneck.settings.errors import UserError

ENGLISH = """\ufeff<?xml version="1.0" encoding="utf-8"?>
<Statute xmlns:lims="http://justice.gc.ca/lims" xml:lang="en"><Body>
<Heading level="1"><TitleText>Purpose of this Act</TitleText></Heading>
<Section lims:id="1"><MarginalNote>Short title of Act</MarginalNote><Label>1</Label>
<Text>This Act may be cited as the <XRefExternal link="A-1">Access Act</XRefExternal>.</Text>
</Section>
<Section><Label>3</Label><Text>In this Act, </Text>
<Definition><Text><DefinedTermEn>record</DefinedTermEn> means a written document;
(<DefinedTermFr>document</DefinedTermFr>)</Text></Definition>
<Definition><Text><DefinedTermEn>Court</DefinedTermEn> means the Federal Court;
(<DefinedTermFr>Cour</DefinedTermFr>)</Text></Definition>
<Paragraph><Label>(a)</Label><Text>the first of all rules</Text></Paragraph>
<Paragraph><Label>(b)</Label><Text>only in the English one</Text></Paragraph>
</Section>
<Section><Label>6</Label><Text><Repealed>[Repealed, 2019, c. 18]</Repealed></Text></Section>
<Section><Label>4</Label><Text>one that comes two times</Text></Section>
<Section><Label>4</Label><Text>one that comes again here</Text></Section>
<Section><Label>5</Label><Text>a first of two texts</Text>
<Text>a second of two texts</Text></Section>
</Body></Statute>"""

FRENCH = """<?xml version="1.0" encoding="utf-8"?>
<Statute xml:lang="fr"><Body>
<Heading level="1"><TitleText>Objet de la loi</TitleText></Heading>
<Section><MarginalNote>Titre abrégé de la loi</MarginalNote><Label>1</Label>
<Text>Titre abrégé : <XRefExternal link="A-1">Loi sur l’accès</XRefExternal>.</Text></Section>
<Section><Label>3</Label><Text>Dans la présente loi,</Text>
<Definition><Text><DefinedTermFr>Cour</DefinedTermFr> La Cour fédérale du Canada.
(<DefinedTermEn>Court</DefinedTermEn>)</Text></Definition>
<Definition><Text><DefinedTermFr>document</DefinedTermFr> Tout document écrit.
(<DefinedTermEn>record</DefinedTermEn>)</Text></Definition>
<Paragraph><Label>a)</Label><Text>la première de toutes les règles</Text></Paragraph>
</Section>
<Section><Label>6</Label><Text><Repealed>[Abrogé, 2019, ch. 18]</Repealed></Text></Section>
<Section><Label>4</Label><Text>une seule fois en français</Text></Section>
<Section><Label>5</Label><Text>un seul texte en français</Text></Section>
</Body></Statute>"""


def test_texts_under_the_same_path_are_pairs() -> None:
    """By label, by term (the order of the definitions differs), by place if as many are there."""
    assert pairs_of(parse(ENGLISH.encode()), parse(FRENCH.encode())) == [
        ("Purpose of this Act", "Objet de la loi"),
        ("Short title of Act", "Titre abrégé de la loi"),
        ("This Act may be cited as the Access Act.", "Titre abrégé : Loi sur l’accès."),
        ("In this Act,", "Dans la présente loi,"),
        ("record means a written document;", "document Tout document écrit."),
        ("Court means the Federal Court;", "Cour La Cour fédérale du Canada."),
        ("the first of all rules", "la première de toutes les règles"),
    ]


@pytest.mark.parametrize(
    ("english", "french", "fine"),
    [
        ("a b c", "d e f", True),
        ("a b", "d e f", False),
        ("x " * 50, "y " * 50, True),
        ("x " * 51, "y " * 51, False),
        ("a b c d", "e f", True),
        ("a b c d e", "f g", False),
        ("a b c", "d e f g h i", True),
        ("a b c", "d e f g h i j", False),
        ("lex non scripta", "lex non scripta", False),
    ],
)
def test_lengths_that_fit(english: str, french: str, fine: bool) -> None:
    assert fits(english, french) == fine


def test_names_of_both_files() -> None:
    assert french_name("SOR-96-433.xml") == "DORS-96-433.xml"
    assert french_name("SI-2001-1.xml") == "TR-2001-1.xml"
    assert french_name("C.R.C.,_c._945.xml") == "C.R.C.,_ch._945.xml"
    assert french_name("A-1.xml") == "A-1.xml"
    names = [
        "laws-0a1b/eng/acts/A-1.xml",
        "laws-0a1b/fra/lois/A-1.xml",
        "laws-0a1b/eng/acts/B-3.xml",
        "laws-0a1b/eng/regulations/SI-2001-1.xml",
        "laws-0a1b/eng/regulations/regs.txt",
        "laws-0a1b/fra/reglements/TR-2001-1.xml",
        "laws-0a1b/annual-statutes-lois-annuelles/en/2001/2001-c10_e.xml",
    ]
    assert list(documents(names)) == [(names[0], names[1]), (names[3], names[5])]


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE Statute [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><Statute><Text>&j;</Text></Statute>"
)
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><Text>&x;</Text></a>'


@pytest.mark.parametrize("encoding", ["klingon", "shift_jis", "rot13"])
def test_an_encoding_that_cannot_be_read(encoding: str) -> None:
    with pytest.raises(ParseError):
        parse(f'<?xml version="1.0" encoding="{encoding}"?><a/>'.encode())


@pytest.mark.parametrize("document", [BOMB, OUTSIDE, '<!DOCTYPE a SYSTEM "http://h/a.dtd"><a/>'])
def test_a_doctype_stops_the_parser(document: str) -> None:
    with pytest.raises(_DoctypeError):
        parse(document.encode())


@pytest.mark.parametrize("document", ["", "<a>", "<a></b>", "<a>&x;</a>", "<a/><b/>", "\0"])
def test_broken_documents(document: str) -> None:
    with pytest.raises(ParseError):
        parse(document.encode())


@pytest.mark.slow
def test_a_document_of_great_depth() -> None:
    """Nesting exhausts neither the stack nor patience: below any act's depth nothing is read."""
    deep = b"<P>" * 50_000 + b"<Text>one two three</Text>" + b"</P>" * 50_000
    french = parse(deep.replace(b"one", b"un"))
    assert pairs_of(parse(deep), french) == []


def document(number: int, word: str) -> bytes:
    """A document with three texts, the last the same in all documents."""
    texts = [f"{word} {number} alone here", f"{word} {number} too", f"{word} of every document"]
    body = "".join(
        f"<Section><Label>{place}</Label><Text>{text}</Text></Section>"
        for place, text in enumerate(texts)
    )
    return f"<Statute><Body>{body}</Body></Statute>".encode()


def archive(folder: Path, more: dict[str, bytes]) -> Path:
    """A zip archive of the repository's layout, with other files that replace or join them."""
    members = {"laws-0a1b/README.md": b"# Laws\n", "laws-0a1b/fra/lois/alone.xml": b"<a/>"}
    for number in range(400):
        members[f"laws-0a1b/eng/acts/C-{number}.xml"] = document(number, "text")
        members[f"laws-0a1b/fra/lois/C-{number}.xml"] = document(number, "texte")
    path = folder / "laws.zip"
    path.write_bytes(zipped((members | more).items()))
    return path


def read(folder: Path, split: str, side: str) -> list[str]:
    return gzip.decompress((folder / f"{split}.{side}.gz").read_bytes()).decode().splitlines()


def test_an_archive_becomes_three_splits_by_document(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    built = unpack_laws([archive(tmp_path, {})], tmp_path / "text")
    held = {split: read(tmp_path / "text", split, "en") for split in ("train", "valid", "test")}
    assert {split: len(lines) for split, lines in held.items()} == built.pairs
    assert sum(built.pairs.values()) == 801
    assert min(built.pairs.values()) > 0
    assert built.left_out == {"pairs that came before": 399}
    for split, lines in held.items():
        own = {line.split()[1] for line in lines} - {"of"}
        assert {split_of(f"C-{number}") for number in own} == {split}
    train = zip(held["train"], read(tmp_path / "text", "train", "fr"), strict=True)
    assert all(french == english.replace("text", "texte") for english, french in train)


def test_a_split_without_a_document_is_none(tmp_path: Path) -> None:
    """It is split off the training text then, as for any text without splits of its own."""
    (tmp_path / "text").mkdir()
    path = tmp_path / "laws.zip"
    members = {f"x/{folder}/C-1.xml": document(1, word)
               for folder, word in (("eng/acts", "text"), ("fra/lois", "texte"))}  # fmt: skip
    path.write_bytes(zipped(members.items()))
    assert unpack_laws([path], tmp_path / "text").pairs == {"train": 3}


def test_a_broken_document_is_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    broken = {"laws-0a1b/fra/lois/C-7.xml": document(7, "texte")[:-9]}
    built = unpack_laws([archive(tmp_path, broken)], tmp_path / "text")
    assert built.left_out["documents that are not well-formed XML"] == 1
    assert sum(built.pairs.values()) == 799


def test_a_doctype_refuses_the_archive(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    path = archive(tmp_path, {"laws-0a1b/fra/lois/C-7.xml": BOMB.encode()})
    with pytest.raises(UserError, match=r"eng/acts/C-7\.xml' was refused: it has a DOCTYPE"):
        unpack_laws([path], tmp_path / "text")


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "a.zip").write_bytes(zipped([("a/b.txt", b"text")]))
    with pytest.raises(UserError, match=r"'a\.zip' holds no act or regulation in both languages"):
        unpack_laws([tmp_path / "a.zip"], tmp_path / "text")

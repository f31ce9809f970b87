"""What the slides print, by id; numbers whose precision matters are kept as the printed text.

B's tables and L4 are in ``printed``; L11 and L12 are columns of L-FAIL, L13 is one of L-VIND.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .formulas import AttentionCode, attention_in_code
from .printed import L4, L_FAIL, L_VIND, CompressionRow, FailureRow, VindicationRow

Numbers = tuple[float, ...]
Texts = tuple[str, ...]


@dataclass(frozen=True)
class CharacterCodes:
    """L1: codes of words; ``pair`` share so many codes in the same places."""

    codes: Mapping[str, tuple[int, ...]]
    pair: tuple[str, str]
    shared: str


@dataclass(frozen=True)
class ToyEmbedding:
    """L2: a word's neighbours among hand-made vectors."""

    axes: Texts
    vectors: Mapping[str, Numbers]
    word: str
    near: str
    far: str


@dataclass(frozen=True)
class SentenceCompression:
    """L3: words of some width, into one vector."""

    words: int
    width: int
    context: int
    numbers: str
    ratio: str


@dataclass(frozen=True)
class Relevance:
    """L5: shares in per cent for one target word over source words."""

    target: str
    translation: str
    words: Texts
    shares: Texts
    total: str


@dataclass(frozen=True)
class DotProducts:
    """L6: vectors, and the dot products of pairs of them."""

    vectors: Mapping[str, Numbers]
    products: Mapping[tuple[str, str], str]


@dataclass(frozen=True)
class WorkedExample:
    """L7: attention over three states; ``third`` are the third weight's printings."""

    decoder: Numbers
    states: Mapping[str, Numbers]
    scores: Texts
    last_exponential: str
    total: str
    weights: Texts
    third: Texts
    share_word: str
    share: str


@dataclass(frozen=True)
class Amplification:
    """L8: pairs of scores and their softmax."""

    scores: tuple[Numbers, ...]
    weights: tuple[Texts, ...]


@dataclass(frozen=True)
class Capacity:
    """L9: numbers that go into one vector, and what attention keeps."""

    words: int
    width: int
    context: int
    numbers: str
    lost: str
    discarded: str
    kept: str


@dataclass(frozen=True)
class ExampleMatrix:
    """L10: weights, French x English; ``gold`` is each French word's column."""

    french: Texts
    english: Texts
    weights: tuple[Texts, ...]
    gold: tuple[int, ...]


@dataclass(frozen=True)
class LongSentence:
    """L14: the long sentence, and what is said of its length."""

    sentence: str
    words: str
    words_elsewhere: str
    numbers: str
    used: str
    width: int
    context: int


@dataclass(frozen=True)
class AttentionCost:
    """L15: the orders as printed, and the remark on Transformers with the order of these."""

    a_step: str
    in_all: str
    remedy: str
    remedy_exponent: int


@dataclass(frozen=True)
class GoldAlignment:
    """L16: links from English words to French ones, and what is counted of them."""

    english: str
    french: str
    links: tuple[tuple[str, str], ...]
    english_words: str
    french_words: str
    reorderings: str
    one_to_many: str


@dataclass(frozen=True)
class FirstSteps:
    """L17: the likeliest first words and their probabilities, a mapping a step."""

    source: str
    steps: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class CodeSlide:
    """L18: the operations of attention in code, and the code."""

    operations: Texts
    code: AttentionCode


@dataclass(frozen=True)
class ShortSentences:
    """L-SHORT: sentences said to translate perfectly, and the lengths of their heading."""

    heading: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LostWords:
    """L-LOST: what of the long sentence is said to survive, and which of its words to be lost.

    Beside the ``phrases`` the conference's ``name`` is said to be lost, as a whole.
    """

    phrases: Texts
    survived: Texts
    name: str


@dataclass(frozen=True)
class Slides:
    """Everything printed that is audited."""

    l1: CharacterCodes
    l2: ToyEmbedding
    l3: SentenceCompression
    l4: tuple[CompressionRow, ...]
    l5: Relevance
    l6: DotProducts
    l7: WorkedExample
    l8: Amplification
    l9: Capacity
    l10: ExampleMatrix
    l14: LongSentence
    l15: AttentionCost
    l16: GoldAlignment
    l17: FirstSteps
    l18: CodeSlide
    fail: Mapping[str, FailureRow]
    vind: Mapping[str, VindicationRow]
    short: ShortSentences
    lost: LostWords


SLIDES = Slides(
    l1=CharacterCodes(
        {"cat": (99, 97, 116), "dog": (100, 111, 103), "sat": (115, 97, 116)}, ("cat", "sat"), "2"
    ),
    l2=ToyEmbedding(
        ("size", "cuteness", "speed"),
        {
            "cat": (0.3, 0.9, 0.6),
            "dog": (0.5, 0.8, 0.5),
            "mouse": (0.1, 0.7, 0.8),
            "elephant": (0.95, 0.4, 0.2),
        },
        word="cat",
        near="dog",
        far="elephant",
    ),
    l3=SentenceCompression(7, 100, 256, numbers="700", ratio="2.7"),
    l4=L4,
    l5=Relevance(
        "chat",
        "cat",
        ("The", "black", "cat", "sat", "on"),
        ("5", "15", "70", "5", "5"),
        total="100",
    ),
    l6=DotProducts(
        {"cat": (0.8, 0.2), "chat": (0.7, 0.2), "sat": (0.2, 0.9)},
        {("cat", "chat"): "0.60", ("cat", "sat"): "0.34"},
    ),
    l7=WorkedExample(
        decoder=(0.5, -0.2, 0.8),
        states={"The": (0.1, 0.2, 0.1), "cat": (0.8, 0.1, 0.7), "sat": (0.2, 0.3, 0.2)},
        scores=("0.09", "0.94", "0.20"),
        last_exponential="1.22",
        total="4.02",
        weights=("0.27", "0.63", "0.10"),
        third=("0.10", "0.22", "0.30"),
        share_word="cat",
        share="63",
    ),
    l8=Amplification(scores=((0.9, 0.1), (5.0, 1.0)), weights=(("0.64", "0.36"), ("0.98", "0.02"))),
    l9=Capacity(30, 100, 256, numbers="3000", lost="2744", discarded="91", kept="7680"),
    l10=ExampleMatrix(
        ("Le", "chat", "était", "assis", "sur", "le", "tapis"),
        ("The", "cat", "sat", "on", "the", "mat"),
        (
            ("0.22", "0.29", "0.22", "0.18", "0.05", "0.05"),
            ("0.02", "0.29", "0.18", "0.21", "0.01", "0.29"),
            ("0.29", "0.07", "0.27", "0.06", "0.11", "0.19"),
            ("0.15", "0.10", "0.21", "0.31", "0.10", "0.13"),
            ("0.16", "0.28", "0.07", "0.18", "0.28", "0.02"),
            ("0.17", "0.05", "0.02", "0.26", "0.27", "0.24"),
            ("0.14", "0.05", "0.32", "0.21", "0.06", "0.23"),
        ),
        gold=(0, 1, 2, 2, 3, 4, 5),
    ),
    l14=LongSentence(
        "The International Conference on Machine Learning, which is one of the premier venues for "
        "presenting research in machine learning and attracts submissions from researchers around "
        "the world, accepted our paper.",
        words="40",
        words_elsewhere="42",
        numbers="420",
        used="200",
        width=100,
        context=256,
    ),
    l15=AttentionCost("O(Tx dh)", "O(Tx Ty dh)", remedy="Transformers", remedy_exponent=2),
    l16=GoldAlignment(
        "The black cat sat on the mat",
        "Le chat noir s'est assis sur le tapis",
        (
            ("The", "Le"),
            ("black", "noir"),
            ("cat", "chat"),
            ("sat", "s'est assis"),
            ("on", "sur"),
            ("the", "le"),
            ("mat", "tapis"),
        ),
        english_words="7",
        french_words="8",
        reorderings="1",
        one_to_many="1",
    ),
    l17=FirstSteps("The cat sat", ({"Le": "0.6", "Un": "0.3"}, {"chat": "0.7", "chien": "0.2"})),
    l18=CodeSlide(
        ("dot products", "softmax with the maximum subtracted", "weighted sum"), attention_in_code
    ),
    fail=L_FAIL,
    vind=L_VIND,
    short=ShortSentences(
        "5-10 words",
        (
            ("The cat sat", "Le chat s'est assis"),
            ("I love you", "Je t'aime"),
            ("Hello world", "Bonjour le monde"),
            ("Good morning", "Bonjour"),
            ("See you later", "À plus tard"),
        ),
    ),
    lost=LostWords(
        ("International", "premier venues", "researchers around the world", "submissions"),
        survived=(
            "the topic (an ML conference)",
            "the sentiment (positive)",
            "the main fact (paper accepted)",
            "the frame (conference does X)",
        ),
        name="International Conference on Machine Learning",
    ),
)

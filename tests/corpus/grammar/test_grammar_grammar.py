"""The grammar: known answers, probabilities, ambiguity, and draws of both lexicons."""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from math import isclose, log2
from random import Random

import pytest

from seq2seq_bottleneck.corpus.grammar import (
    CONTENT,
    FUNCTION,
    LECTURE_SENTENCES,
    NOUN_GENDER,
    WORD_CLASS,
    english_french,
)
from seq2seq_bottleneck.corpus.grammar.grammar import Grammar
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import WORDS, tokenize, without_joiner

pytestmark = pytest.mark.usefixtures("unchecked")

# The lecture's sentences, and one sentence for each construction.

LECTURE = {
    "the cat sat": "le chat s'est assis",
    "i love you": "je t'aime",
    "hello world": "bonjour le monde",
    "good morning": "bonjour",
    "see you later": "à plus tard",
    "the cat sat on the mat": "le chat s'est assis sur le tapis",
    "the black cat sat on the mat": "le chat noir s'est assis sur le tapis",
    LECTURE_SENTENCES[-1]: (
        "la conférence internationale sur l'apprentissage automatique, qui est l'une des "
        "principales tribunes pour présenter des recherches en apprentissage automatique et "
        "attire des soumissions de chercheurs du monde entier, a accepté notre article"
    ),
}

PAIRS = """
hello friends | bonjour les amis
see you tomorrow, mary | à demain, marie
she eats bread | elle mange du pain
he drinks water | il boit de l'eau
they saw beautiful horses | ils ont vu de beaux chevaux
i do not love cats | je n'aime pas les chats
he saw her | il l'a vue
he saw them | il les a vus
mary and paul arrived | marie et paul sont arrivés
they did not rest | ils ne se sont pas reposés
i went to the market | je suis allé au marché
the girls returned to the hospital | les filles sont retournées à l'hôpital
the flower that he found is red | la fleur qu'il a trouvée est rouge
the old man sings | le vieil homme chante
the boy's bicycle is near the school | le vélo du garçon est près de l'école
the woman with the red hat danced | la femme au chapeau rouge a dansé
he gave the book to the children | il a donné le livre aux enfants
she gave it to the doctor | elle l'a donné au médecin
i look for the keys | je cherche les clés
we dream of the gardens | nous rêvons des jardins
she wants to see him | elle veut le voir
she wanted to sit | elle voulait s'asseoir
i cannot sleep | je ne peux pas dormir
there are no chairs | il n'y a pas de chaises
the house is as old as the church | la maison est aussi vieille que l'église
if he sleeps, she will leave | s'il dort, elle partira
he thinks that anna slept | il pense qu'anna a dormi
last week, the king often worked | la semaine dernière, le roi a souvent travaillé
she is one of the best singers | elle est l'une des meilleures chanteuses
my committee is one of the best institutions | mon comité est l'une des meilleures institutions
a seminar is one of the premier events | un séminaire est l'un des principaux événements
he left quietly in june | il est parti doucement en juin
they will not cancel their festival carefully | ils n'annuleront pas prudemment leur festival
she wants to clean it quickly | elle veut le nettoyer rapidement
he walked to the office last month | il a marché jusqu'au bureau le mois dernier
on monday, the man who left yesterday sang | lundi, l'homme qui est parti hier a chanté
he sang, and since she left, i slept | il a chanté, et puisqu'elle est partie, j'ai dormi
he sang, then unfortunately, he fell | il a chanté, puis malheureusement, il est tombé
"""


OUTSIDE = (
    "the old actor sings",
    "the cat of the table slept",
    "a owl sleeps",
    "an cat sat",
    "he see a cat",
    "hello hello",
    "hello",
)
KNOWN = [*LECTURE.items(), *(tuple(row.split(" | ")) for row in PAIRS.strip().splitlines())]


@pytest.mark.slow
@pytest.mark.parametrize(("english", "french"), KNOWN)
def test_translation_is_the_known_one(english: str, french: str):
    pair = english_french().parse(english)
    assert (pair.source, pair.target) == (english, french)


@pytest.mark.parametrize("english", OUTSIDE)
def test_sentences_outside_the_language_are_refused(english: str):
    assert english_french().parse(english) is None


@pytest.mark.parametrize(
    ("sentence", "links"),
    [
        ("he did not see him", "he-il did-a not-ne not-pas see-vu him-l'"),
        ("she will not sing", "she-elle will-chantera sing-chantera not-ne not-pas"),
        ("i went to the market", "i-je went-suis went-allé to-au the-au market-marché"),
        ("he drinks water", "he-il drinks-boit water-de water-l' water-eau"),
        ("anna's cat sat", "anna-anna 's-le 's-d' cat-chat sat-s' sat-est sat-assis"),
        (
            "she is one of the best judges",
            "she-elle is-est one-l' one-une of-des the-des best-meilleures judges-juges",
        ),
    ],
)
def test_alignment_of_each_construction(sentence: str, links: str):
    pair = english_french().parse(sentence)
    english, french = tokenize(pair.source), tokenize(pair.target)
    linked = {(without_joiner(english[i]), without_joiner(french[j])) for i, j in pair.links}
    assert linked == {tuple(link.rsplit("-", 1)) for link in links.split()}


def test_the_lecture_is_listed_and_its_alignment_is_exact():
    pair = english_french().parse("the black cat sat on the mat")
    gold = ((0, 0), (1, 2), (2, 1), (3, 3), (3, 4), (3, 5), (4, 6), (5, 7), (6, 8))
    assert pair.links == gold
    assert set(LECTURE) == set(LECTURE_SENTENCES)


# Probabilities and ambiguity.


def every(grammar: Grammar, words: int) -> Iterator[SentencePair]:
    """Every sentence of this many words; from four words on there are many."""

    def derivations(symbol: str, words: int) -> Iterator[tuple]:
        for rule in grammar._rules[symbol]:
            for lengths in product(range(1, words + 1), repeat=len(rule.symbols)):
                if sum(lengths) + rule.fixed == words:
                    choices = product(*map(derivations, rule.symbols, lengths))
                    yield from ((rule, choice) for choice in choices)

    return map(grammar._pair, derivations("Sentence", words))


def tokens_of(grammar: Grammar) -> set[str]:
    """Every English token of the language."""
    rules = [rule for choices in grammar._rules.values() for rule in choices]
    parts = {part for rule in rules for part in rule.parts if part not in rule.symbols}
    return parts | {"an"}


@pytest.fixture(scope="module")
def pairs_of_two() -> list[SentencePair]:
    return list(every(english_french(), 2))


def test_probabilities_of_length_two_sum_to_one(pairs_of_two: list[SentencePair]):
    small = list(every(english_french("small"), 2))
    for pairs in (pairs_of_two, small):
        assert len({pair.source for pair in pairs}) == len(pairs)
        assert isclose(sum(2 ** -(pair.bits or 0.0) for pair in pairs), 1.0, rel_tol=1e-9)


@pytest.mark.slow
def test_length_three_sums_to_one_and_shares_its_french():
    bits, french = 0.0, Counter[str]()
    for pair in every(english_french("small"), 3):
        chance = 2**-pair.bits
        bits += chance * pair.bits
        french[pair.target] += chance
    assert isclose(sum(french.values()), 1.0, rel_tol=1e-9)
    shared = bits + sum(chance * log2(chance) for chance in french.values())
    assert (round(shared, 1), round(bits, 1)) == (0.2, 10.7)  # bits not in the translation


@pytest.mark.slow
def test_draws_have_their_probabilities(pairs_of_two: list[SentencePair]):
    draws = 10_000
    random = Random(5)
    seen = Counter(english_french().draw(random, 2).source for _ in range(draws))
    expected = {pair.source: draws * 2 ** -(pair.bits or 0.0) for pair in pairs_of_two}
    often = {source: count for source, count in expected.items() if count >= 5}
    rest = draws - sum(often.values())
    observed_rest = draws - sum(seen[source] for source in often)
    statistic = sum((seen[source] - count) ** 2 / count for source, count in often.items())
    statistic += (observed_rest - rest) ** 2 / rest
    freedom = len(often)
    assert abs(statistic - freedom) < 4 * (2 * freedom) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("words", [*range(2, 26), 40, 60])
def test_drawn_sentences_have_one_derivation(words: int):
    grammar, random = english_french(), Random(words)
    for _ in range(20 if words < 26 else 4):
        pair = grammar.draw(random, words)
        assert grammar.parse(pair.source) == pair  # None if there are two


# Tokens, alignments, words and bytes of drawn pairs.

GOLDEN = {
    ("full", 1000): "da2b7fc28443ce124989fbfaa2f07409547fea942bea3768f6ac89bbf9439792",
    ("small", 300): "5e4768b2ceae8eb7c04d6f28849f16f2f933ba8a2cc138490c38b139488a46be",
}


def _draw(seed: int, count: int, lexicon: str = "full") -> list[SentencePair]:
    random = Random(seed)
    return [english_french(lexicon).draw(random, 2 + index % 59) for index in range(count)]


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[SentencePair]]:
    return {lexicon: _draw(11, count, lexicon) for lexicon, count in GOLDEN}


@pytest.mark.parametrize(("lexicon", "count"), GOLDEN)
def test_same_seed_gives_the_same_bytes(drawn, lexicon: str, count: int):
    pairs, digest = drawn[lexicon], sha256()
    for pair in pairs:
        digest.update(f"{pair.source}|{pair.target}|{pair.links}\n".encode())
    assert digest.hexdigest() == GOLDEN[lexicon, count]
    assert [pair.words for pair in pairs] == [2 + index % 59 for index in range(count)]


def test_tokens_are_the_text_and_each_is_linked_a_comma_to_a_comma(drawn):
    for pair in drawn["full"]:
        sides = pair.source, pair.target
        tokens = english, french = [tokenize(text) for text in sides]
        assert tuple(map(WORDS.text, tokens)) == sides == tuple(map(str.lower, sides))
        assert {source for source, _ in pair.links} == set(range(len(english)))
        assert {target for _, target in pair.links} == set(range(len(french)))
        for source, target in pair.links:
            assert (english[source] == "￭,") == (french[target] == "￭,"), pair


def test_each_word_has_one_class():
    kinds = {WORD_CLASS[token] for token in tokens_of(english_french())}
    assert kinds == CONTENT | FUNCTION
    known = {"noun": "cats", "name": "paris", "verb": "saw", "pronoun": "her", "particle": "not"}
    assert all(WORD_CLASS[word] == kind for kind, word in known.items())


def test_noun_gender():
    wanted = {"cat": "m", "mice": "f", "queen": "f", "history": "f", "law": "m", "night": "f"}
    assert {noun: NOUN_GENDER[noun] for noun in wanted} == wanted


def test_the_small_lexicon_has_fewer_words_of_the_same_constructions(drawn):
    small, full = (tokens_of(english_french(lexicon)) for lexicon in ("small", "full"))
    assert small < full
    assert (len(small), len(full)) == (365, 915)
    assert {token for sentence in LECTURE_SENTENCES for token in tokenize(sentence)} <= small
    for pair in drawn["small"][::7]:
        assert {*tokenize(pair.source)} <= small
        full_pair = english_french().parse(pair.source)
        assert (full_pair.target, full_pair.links) == (pair.target, pair.links)

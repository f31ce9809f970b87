"""Known answers: the lecture's sentences, and one sentence for each construction."""

import pytest

from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.vocabulary import plain, tokenize

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
good morning, my friend | bonjour, mon ami
see you tomorrow, mary | à demain, marie
he sees a cat | il voit un chat
he does not see a cat | il ne voit pas de chat
she never eats bread | elle ne mange jamais de pain
she eats bread | elle mange du pain
he drinks water | il boit de l'eau
they saw beautiful horses | ils ont vu de beaux chevaux
they saw black horses | ils ont vu des chevaux noirs
they did not see horses | ils n'ont pas vu de chevaux
i love cats | j'aime les chats
i do not love cats | je n'aime pas les chats
he sees him | il le voit
he saw her | il l'a vue
he saw them | il les a vus
he did not see him | il ne l'a pas vu
he will not see us | il ne nous verra pas
the queen sat | la reine s'est assise
mary and anna arrived | marie et anna sont arrivées
mary and paul arrived | marie et paul sont arrivés
we will leave tomorrow | nous partirons demain
you wake up | tu te réveilles
they did not rest | ils ne se sont pas reposés
i went to the market | je suis allé au marché
the girls returned to the hospital | les filles sont retournées à l'hôpital
she walked to the park | elle a marché jusqu'au parc
the flower that he found is red | la fleur qu'il a trouvée est rouge
the women whom i invited were happy | les femmes que j'ai invitées étaient heureuses
the man who sleeps is old | l'homme qui dort est vieux
the old man sings | le vieil homme chante
a beautiful elephant slept | un bel éléphant a dormi
this bird hides | cet oiseau se cache
my story is long | mon histoire est longue
an owl sleeps | un hibou dort
i watched the owl | j'ai regardé le hibou
many owls slept | beaucoup de hiboux ont dormi
he ate an apple | il a mangé une pomme
the boy's bicycle is near the school | le vélo du garçon est près de l'école
the owner of the hotel laughs | le propriétaire de l'hôtel rit
the woman with the red hat danced | la femme au chapeau rouge a dansé
he gave the book to the children | il a donné le livre aux enfants
he gave the book to her | il lui a donné le livre
she gave it to the doctor | elle l'a donné au médecin
she speaks to the engineer | elle parle à l'ingénieur
she spoke to them | elle leur a parlé
i look for the keys | je cherche les clés
he remembered the queen | il s'est souvenu de la reine
we dream of the gardens | nous rêvons des jardins
she wants to see him | elle veut le voir
she wanted to sit | elle voulait s'asseoir
you want to sit | tu veux t'asseoir
he tried to repair it | il a essayé de le réparer
he can swim | il peut nager
i cannot sleep | je ne peux pas dormir
there is a key on the table | il y a une clé sur la table
there are no chairs | il n'y a pas de chaises
the house is as old as the church | la maison est aussi vieille que l'église
mary is more honest than the king | marie est plus honnête que le roi
if he sleeps, she will leave | s'il dort, elle partira
he smiled because alice sang | il a souri parce qu'alice a chanté
when i arrived, the dog was hungry | quand je suis arrivé, le chien était affamé
he thinks that anna slept | il pense qu'anna a dormi
last week, the king often worked | la semaine dernière, le roi a souvent travaillé
she is one of the best singers | elle est l'une des meilleures chanteuses
he is one of the best singers | il est l'un des meilleurs chanteurs
the queen was one of the best judges | la reine était l'une des meilleures juges
john, who is one of the best judges, slept | jean, qui est l'un des meilleurs juges, a dormi
my committee is one of the best institutions | mon comité est l'une des meilleures institutions
a seminar is one of the premier events | un séminaire est l'un des principaux événements
he left on monday | il est parti lundi
he left quietly in june | il est parti doucement en juin
he arrived in paris | il est arrivé à paris
he slept here | il a dormi ici
he is quite happy | il est assez heureux
they will not cancel their festival carefully | ils n'annuleront pas prudemment leur festival
he ate the fresh bread quickly in paris | il a mangé rapidement le pain frais à paris
he often cleaned the table calmly yesterday | il a souvent nettoyé calmement la table hier
he gave the book to the king slowly | il a donné lentement le livre au roi
she wants to clean it quickly | elle veut le nettoyer rapidement
the cat sat quietly on the mat | le chat s'est assis doucement sur le tapis
last month, he walked to the office | le mois dernier, il a marché jusqu'au bureau
he walked to the office last month | il a marché jusqu'au bureau le mois dernier
on monday, the man who left yesterday sang | lundi, l'homme qui est parti hier a chanté
he sang, and since she left, i slept | il a chanté, et puisqu'elle est partie, j'ai dormi
he sang, then unfortunately, he fell | il a chanté, puis malheureusement, il est tombé
however, he sang | cependant, il a chanté
"""


OUTSIDE = (
    "the old actor sings",
    "the table laughs",
    "the cat of the table slept",
    "a owl sleeps",
    "an cat sat",
    "he see a cat",
    "he sees a",
    "hello hello",
    "hello",
    "",
)
KNOWN = [*LECTURE.items(), *(tuple(row.split(" | ")) for row in PAIRS.strip().splitlines())]


@pytest.mark.slow
@pytest.mark.parametrize(("english", "french"), KNOWN)
def test_translation_is_the_known_one(english: str, french: str) -> None:
    pair = english_french().parse(english)
    assert (pair.source, pair.target) == (english, french)
    assert english_french().count_derivations(english) == 1


@pytest.mark.parametrize("english", OUTSIDE)
def test_what_is_not_of_the_language_is_refused(english: str) -> None:
    assert english_french().parse(english) is None
    assert english_french().count_derivations(english) == int(english == "hello")


@pytest.mark.parametrize(
    ("sentence", "links"),
    [
        ("he did not see him", "he-il did-a not-ne not-pas see-vu him-l'"),
        ("she will not sing", "she-elle will-chantera sing-chantera not-ne not-pas"),
        ("he does not sleep", "he-il does-dort sleep-dort not-ne not-pas"),
        ("i went to the market", "i-je went-suis went-allé to-au the-au market-marché"),
        ("he drinks water", "he-il drinks-boit water-de water-l' water-eau"),
        ("anna's cat sat", "anna-anna 's-le 's-d' cat-chat sat-s' sat-est sat-assis"),
        ("today, it sleeps", "today-aujourd'hui ,-, it-il sleeps-dort"),
        (
            "he ate the bread quickly",
            "he-il ate-a ate-mangé quickly-rapidement the-le bread-pain",
        ),
        (
            "she is one of the best judges",
            "she-elle is-est one-l' one-une of-des the-des best-meilleures judges-juges",
        ),
        ("i look for keys", "i-je look-cherche for-cherche keys-des keys-clés"),
    ],
)
def test_alignment_of_each_construction(sentence: str, links: str) -> None:
    pair = english_french().parse(sentence)
    english, french = tokenize(pair.source), tokenize(pair.target)
    linked = {(plain(english[i]), plain(french[j])) for i, j in pair.links}
    assert linked == {tuple(link.rsplit("-", 1)) for link in links.split()}


def test_the_lecture_is_listed_and_its_alignment_is_exact() -> None:
    pair = english_french().parse("the black cat sat on the mat")
    gold = ((0, 0), (1, 2), (2, 1), (3, 3), (3, 4), (3, 5), (4, 6), (5, 7), (6, 8))
    assert pair.links == gold
    assert set(LECTURE) == set(LECTURE_SENTENCES)
    assert LECTURE_SENTENCES[-1].count(" ") == 29

"""The lecture's sentences that are of this language; callers keep them out of every split."""

LECTURE_SENTENCES: tuple[str, ...] = (
    "the cat sat",
    "i love you",
    "hello world",
    "good morning",
    "see you later",
    "the cat sat on the mat",
    "the black cat sat on the mat",
    "the international conference on machine learning, which is one of the premier venues for "
    "presenting research in machine learning and attracts submissions from researchers around "
    "the world, accepted our paper",
)

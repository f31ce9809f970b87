"""C4: how many of the context's numbers are in use ("capacity used: 200 of 256")?

A bootstrap resample repeats sentences and so has fewer dimensions: intervals are those of the
delete-a-group jackknife (Quenouille 1949, Tukey 1958),
se^2 = (G - 1) / G  sum_g (theta_(-g) - mean theta_(-g))^2,  value +- t_(G-1, .975) se.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..settings.concerns import bucket_labels, holds
from .arms import Arm, Estimates, Measured, Row, by_arm
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

SLIDE_USED, SLIDE_SIZE, SLIDE_WORDS = 200, 256, 30
TOLERANCE = 0.25
"""Share of the slide's number."""
GROUPS = 20
"""Groups of sentences that the jackknife leaves out in turn."""
REPLICATES = ("value", *(f"without_{group}" for group in range(GROUPS)))


def probe(subject: Subject, wanted: int = 2_500) -> Columns:
    """A row for every bucket, trained and untrained."""
    subject.tell("drawing sentences")
    buckets = dict(zip(bucket_labels(subject.edges), subject.fresh_sentences(wanted), strict=True))
    rows = []
    for control, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        for bucket, pairs in buckets.items():
            subject.tell(f"{control} contexts, {bucket} words")
            replicates = np.full(len(REPLICATES), np.nan)
            if len(pairs) >= 2 * GROUPS:
                vectors = np.stack([context for _, context in subject.read(weights, pairs)])
                replicates = dimensions(vectors)
            rows.append((control, bucket, len(pairs), *replicates))
    return pd.DataFrame(rows, columns=["control", "bucket", "n", *REPLICATES]).to_dict("list")


def dimensions(contexts: Float[ndarray, "sentences context"]) -> Float[ndarray, "replicates"]:
    """Principal components with 95 % of the variance: of all sentences, then without each group."""
    # The same groups for every run, so that all are paired.
    stream = np.random.Generator(np.random.PCG64([1, 0]))
    group, counts = stream.permutation(len(contexts)) % GROUPS, []
    # Moving the origin to a sentence makes equal contexts exactly equal to their mean.
    moved = contexts.astype(np.float64) - contexts[0]
    for left_out in range(-1, GROUPS):
        covariance = np.cov(moved[group != left_out], rowvar=False)
        variances = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0)
        reached = np.cumsum([0.0, *variances])
        count = np.interp(0.95 * reached[-1], reached, np.arange(len(reached)))
        counts.append(count if reached[-1] > 0 else np.nan)
    return np.array(counts)


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """The components of every arm, and those that training adds, with 95 % t-intervals."""
    from scipy.special import stdtrit  # slow to import

    found, less = arm.runs[0].found, GROUPS - 1
    trained, untrained = np.split(arm.statistics(REPLICATES), 2, axis=1)
    for measure, control, replicates in (
        ("components", "", trained),
        ("components_added", "", trained - untrained),
        ("components", "untrained", untrained),
    ):
        for place in range(replicates.shape[1]):
            seeds, bucket = replicates[:, place], str(found["bucket"][place])
            keys = {"bucket": bucket, "control": control, "n": int(found["n"][place])}
            value, *left_out = seeds.mean(axis=0).tolist()
            half = stdtrit(less, 0.975) * less * np.std(left_out, ddof=1) / np.sqrt(GROUPS)
            mean = Measured(value, value - half, value + half)
            yield from arm.with_seeds(measure, mean, seeds[:, 0], **keys)


def judge(estimates: Estimates) -> Judgement | str:
    """C4: 200 of 256 numbers are in use."""
    arm = estimates.without_attention
    components = estimates.by_bucket("components", arm)
    bucket = next((name for name in components if holds(name, SLIDE_WORDS)), None)
    if bucket is None:
        return f"no run without attention has contexts of {SLIDE_WORDS} words"
    used, numbers = components[bucket], [*components.values()]
    size = int(estimates.means.loc[estimates.means["arm"] == arm, "context_size"].iloc[0])
    added = estimates.get("components_added", arm, bucket)
    growth, slide = numbers[-1].minus(numbers[0]), SLIDE_USED / SLIDE_SIZE * size
    near_slide = slide * (1 - TOLERANCE) <= used.low and used.high <= slide * (1 + TOLERANCE)
    clauses = [
        f"{used.text('{:z.0f}')} of {size} components ({used.value / size:.0%}) hold 95 % of the "
        f"variance of {used.n:,} contexts of {bucket} words (the slide: {SLIDE_USED} of "
        f"{SLIDE_SIZE}, {SLIDE_USED / SLIDE_SIZE:.0%})",
        added.change("training adds {} to", "training takes {} away from", "{:z.0f}")
        + " an untrained encoder's",
        "from the shortest bucket to the longest the number "
        + growth.change("grows by {}", "shrinks by {}", "{:z.0f}"),
    ]
    fully, partly = added.low > 0 and near_slide, added.low > 0 and growth.low > 0
    measure = f"components for 95 % of the variance, {bucket} words"
    return Judgement(fully, partly, clauses, measure, used)


QUESTION = Question(
    name="dimensions",
    question="How many of the context's numbers are in use: 200 of 256, as on the slide? (C4, L14)",
    title="Dimensions of the context in use (C4)",
    version=3,
    probe=probe,
    summarise=summarise,
    rules={"C4": (
        "The rule reads how many principal components explain 95 % of the variance of the contexts "
        f"without attention, in the bucket of {SLIDE_WORDS} words. The slide says {SLIDE_USED} "
        f"of {SLIDE_SIZE}, in proportion for other sizes. Held if the 95 % interval (over groups "
        f"of newly drawn sentences) lies within {TOLERANCE:.0%} of that, and training adds to the "
        "components of an untrained encoder (interval of the paired difference above 0); partly if "
        "training adds to them, and they grow from the shortest filled bucket to the longest "
        "(interval of the difference above 0); otherwise not held. A bucket of fewer than 40 "
        "contexts does not count.",
        judge,
    )},
    notes=[
        "Contexts h_Tx of new sentences of the run's language, the same for all runs. Slide: "
        f"{SLIDE_USED} of {SLIDE_SIZE}, for one sentence of {SLIDE_WORDS} words.",
    ],
    tables=[
        StudyTable("Principal components for 95 % of the contexts' variance (C4)", [
            StudyColumn("trained", "components", form="{:z.0f}"),
            StudyColumn("un-\ntrained", "components", control="untrained", form="{:z.0f}"),
            StudyColumn("training\nadds", "components_added", form="{:+z.0f}"),
        ], slide=(f"{SLIDE_USED} of\n{SLIDE_SIZE}", SLIDE_WORDS))
    ],
    over="groups of sentences (jackknife)",
    axes=[
        Axes("Components, 95 % of variance", "dimensions", measure="components",
             printed=lambda frame: {
                 bucket: SLIDE_USED
                 for bucket in frame.loc[frame["context_size"] == SLIDE_SIZE, "bucket"].unique()
                 if bucket and holds(bucket, SLIDE_WORDS)
             })
    ],
)  # fmt: skip

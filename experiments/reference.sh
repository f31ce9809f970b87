#!/bin/sh
# The reference study: the commands that answer the lecture's questions, as in results/reference.
#
#     sh experiments/reference.sh
#
# Ours took about 22 core hours, next to other work. After an interruption, start it again: it does
# not repeat what is trained or measured. It passes its options to every sweep, so a trial is
# `sh experiments/reference.sh --preset smoke --seeds 1`. OUT is the folder of all results. It has a
# folder for each sweep; by their names `bottleneck table claims` finds the runs that decide a claim.
set -eu
OUT=${OUT:-results/runs/reference}

# Does translation fail without attention as sentences grow, and does attention bring it back, most
# where it failed (L-FAIL, L-VIND)? The lecture's two tables: both arms, five seeds.
bottleneck sweep vindication --seeds 5 --out "$OUT/vindication" "$@"

# The studies take as long as the training, so they measure only the first three seeds of that pair.
# Which source words reach the output, and are details lost first (C3)?
bottleneck study survival --results "$OUT/vindication" --where seed=1,2,3
# How many of the context's dimensions are in use (C4)?
bottleneck study dimensions --results "$OUT/vindication" --where seed=1,2,3
# How many bits of the source reach the decoder, without attention and with it (C5, C6)?
bottleneck study information --results "$OUT/vindication" --where seed=1,2,3
# Do attention weights align words as the gold links do (C7)?
bottleneck study alignment --results "$OUT/vindication" --where seed=1,2,3
# How far back does the gradient of the loss reach (C8)?
bottleneck study gradients --results "$OUT/vindication" --where seed=1,2,3
# Are outputs for long sentences too short, empty or repetitive (C11)?
bottleneck study length --results "$OUT/vindication" --where seed=1,2,3
# Are training sentences translated better than test sentences of the same length (C12)?
bottleneck study fit --results "$OUT/vindication" --where seed=1,2,3
# Do similar words lie near each other (C13)?
bottleneck study embeddings --results "$OUT/vindication" --where seed=1,2,3
# Which of the words so far can be read from the encoder's state (C14)?
bottleneck study reading --results "$OUT/vindication" --where seed=1,2,3

# Does the compression ratio predict the loss of quality (C1)? Contexts of 16 to 256 numbers.
bottleneck sweep context_size --seeds 3 --out "$OUT/context_size" "$@"

# Is it selection that helps, and not more parameters, a better start or more training (C10, C12)?
bottleneck sweep controls --seeds 3 --out "$OUT/controls" "$@"
# Do weights align words if the encoder reads both ways, or backwards (C7)?
bottleneck study alignment --results "$OUT/controls" --where attention=additive --where updates=2000 --where initial_state=context --where joined=1

# Does longer training still help, and how far (C12)? Up to 32 times the updates of `quick`.
bottleneck sweep learning_curve --seeds 1 --out "$OUT/learning_curve" "$@"

# How many words does a context of N numbers hold (C2)? On random words and on the grammar.
bottleneck sweep capacity --seeds 3 --out "$OUT/capacity" "$@"
bottleneck study capacity --results "$OUT/capacity"

# What does attention cost, by length (C9)? Nothing else should run meanwhile.
bottleneck study cost --results "$OUT/bench"

# Side questions, which decide no claim: one seed each.
# Do long sentences fail because they do not fit, or because training had none that long?
bottleneck sweep training_length --seeds 1 --out "$OUT/training_length" "$@"
# Which attention score helps, and in which placement?
bottleneck sweep attention_types --seeds 1 --out "$OUT/attention_types" "$@"
# Do gated cells keep a sentence better?
bottleneck sweep cells --seeds 1 --out "$OUT/cells" "$@"
# Does training on the decoder's output words help long sentences?
bottleneck sweep teacher_forcing --seeds 1 --out "$OUT/teacher_forcing" "$@"

# Every table as CSV and Markdown, every figure, the claims and the page.
bottleneck export --all --results "$OUT"

# Do both claims hold on real text? It is downloaded. A text of few pairs needs dropout. (In
# results/reference both texts were read from files; the statutes are not among these commands.)
bottleneck corpus multi30k --fetch
bottleneck sweep real_vindication --corpus multi30k --set model.dropout=0.3 --set training.updates=2500 --seeds 1 --out "$OUT/real_multi30k" "$@"
bottleneck export --all --results "$OUT"
bottleneck table claims --results "$OUT"

"""The translator of ``bottleneck/model`` as a PyTorch user would write it to be fast.

One-way GRU encoder whose last state is the context c; decoder GRU that reads [embedding; context]
at every step, s_0 = c; attention none, dot or additive with input placement, dot with output
placement. Eager, or with the decoder's step and the loss compiled. These were the fastest
(README.md): ``nn.GRU`` if the recurrence needs no attention, else ``nn.GRUCell``; keys computed
once per sentence; logits only of real positions; fused Adam. For ``nn.GRU``, arrays are time first.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 (the name that everyone knows)
from torch import Tensor, nn

from seq2seq_bottleneck.corpus.batches import Batch
from seq2seq_bottleneck.corpus.vocabulary import BOS
from seq2seq_bottleneck.settings.concerns import ModelSettings


class TorchBatch(NamedTuple):
    """Token ids, time first; ``barred`` is -inf on the source's padding and 0 elsewhere."""

    source: Tensor  # source x batch
    last: Tensor  # batch: each source's last real position
    barred: Tensor  # batch x source
    inputs: Tensor  # target x batch
    real: Tensor  # target x batch, true on real positions
    words: Tensor  # the real target words in the order of ``real``


class Memory(NamedTuple):
    """What the decoder reads: states, the vector of the whole sentence, a mask to add."""

    values: Tensor  # batch x source x context
    last: Tensor  # batch x context
    barred: Tensor  # batch x source


def to_torch(batch: Batch) -> TorchBatch:
    """A padded batch as PyTorch tensors."""
    source, lengths, target, target_lengths = (torch.from_numpy(part).long() for part in batch)
    padding = torch.arange(source.shape[1]) >= lengths[:, None]
    barred = torch.zeros(source.shape).masked_fill_(padding, -torch.inf)
    target = target.t().contiguous()
    inputs = torch.cat([torch.full_like(target[:1], BOS), target[:-1]])
    real = torch.arange(len(target))[:, None] < target_lengths
    return TorchBatch(source.t().contiguous(), lengths - 1, barred, inputs, real, target[real])


class Translator(nn.Module):
    """The whole model, from the ids of a batch to its mean loss."""

    def __init__(self, settings: ModelSettings, source_words: int, target_words: int):
        super().__init__()
        embedding, hidden = settings.embedding_size, settings.hidden
        self.source_embedding = nn.Embedding(source_words, embedding)
        self.target_embedding = nn.Embedding(target_words, embedding)
        self.encoder = nn.GRU(embedding, hidden)
        self.decoder = make_decoder(settings)
        self.output = nn.Linear(hidden, target_words)
        self.head = _mean_loss

    def forward(self, batch: TorchBatch) -> Tensor:
        """Mean -log P in nats per real target token, teacher-forced."""
        states = self.decoder(self.target_embedding(batch.inputs), self.encode(batch))
        return self.head(states[batch.real], self.output.weight, self.output.bias, batch.words)

    def encode(self, batch: TorchBatch) -> Memory:
        """Read the source, one way: padding after a sentence changes nothing before it."""
        states, _ = self.encoder(self.source_embedding(batch.source))
        last = states[batch.last, torch.arange(len(batch.last))]
        return Memory(states.transpose(0, 1).contiguous(), last, batch.barred)

    def compile_parts(self) -> None:
        """Compile what is slow in eager mode: the attending step, and logits with their loss."""
        self.head = torch.compile(_mean_loss, dynamic=True)
        if isinstance(self.decoder, AttendingDecoder):
            self.decoder.advance = torch.compile(self.decoder.advance, dynamic=False)


def _mean_loss(states: Tensor, weight: Tensor, bias: Tensor, words: Tensor) -> Tensor:
    """Cross entropy of W_o s_t + b_o."""
    return F.cross_entropy(F.linear(states, weight, bias), words)


def make_decoder(settings: ModelSettings) -> nn.Module:
    """The decoder for an arm's attention and placement."""
    sizes = settings.embedding_size, settings.hidden
    match settings.attention, settings.placement:
        case "none", "input":
            return ConstantDecoder(*sizes)
        case ("dot" | "additive") as kind, "input":
            return AttendingDecoder(*sizes, DotScore() if kind == "dot" else AdditiveScore(*sizes))
        case "dot", "output":
            return OutputPlacedDecoder(*sizes)
    raise ValueError(f"no arm with attention {settings.attention!r} at {settings.placement!r}")


class ConstantDecoder(nn.Module):
    """No attention: c next to every embedding, all steps in one ``nn.GRU``."""

    def __init__(self, embedding: int, hidden: int):
        super().__init__()
        self.rnn = nn.GRU(embedding + hidden, hidden)

    def forward(self, embedded: Tensor, memory: Memory) -> Tensor:
        """The state after every word."""
        constant = memory.last.expand(len(embedded), -1, -1)
        return self.rnn(torch.cat([embedded, constant], dim=-1), memory.last[None])[0]


class DotScore(nn.Module):
    """e_i = s . h_i."""

    def keys(self, values: Tensor) -> Tensor:
        """The states themselves."""
        return values

    def forward(self, state: Tensor, keys: Tensor) -> Tensor:
        """Batch x hidden against batch x source x hidden."""
        return torch.bmm(keys, state[:, :, None])[:, :, 0]


class AdditiveScore(nn.Module):
    """e_i = v . tanh(W_1 s + W_2 h_i)."""

    def __init__(self, _embedding: int, hidden: int):
        super().__init__()
        self.query_map = nn.Linear(hidden, hidden, bias=False)
        self.key_map = nn.Linear(hidden, hidden, bias=False)
        self.vector = nn.Parameter(torch.randn(hidden) * hidden**-0.5)

    def keys(self, values: Tensor) -> Tensor:
        """W_2 h_i, computed once per sentence."""
        return self.key_map(values)

    def forward(self, state: Tensor, keys: Tensor) -> Tensor:
        """Batch x hidden against batch x source x hidden."""
        return (keys + self.query_map(state)[:, None]).tanh_() @ self.vector


class AttendingDecoder(nn.Module):
    """Input placement: s_(t-1) is needed to read the context, so it goes step by step."""

    def __init__(self, embedding: int, hidden: int, score: nn.Module):
        super().__init__()
        self.cell = nn.GRUCell(embedding + hidden, hidden)
        self.score = score
        self.advance = self._advance

    def forward(self, embedded: Tensor, memory: Memory) -> Tensor:
        """The state after every word."""
        keys, state, states = self.score.keys(memory.values), memory.last, []
        for word in embedded.unbind(0):
            state = self.advance(word, state, keys, memory.values, memory.barred)
            states.append(state)
        return torch.stack(states)

    def _advance(
        self, word: Tensor, state: Tensor, keys: Tensor, values: Tensor, barred: Tensor
    ) -> Tensor:
        """One step: read the context, then run the cell."""
        weights = F.softmax(self.score(state, keys) + barred, dim=-1)
        context = torch.bmm(weights[:, None], values)[:, 0]
        return self.cell(torch.cat([word, context], dim=-1), state)


class OutputPlacedDecoder(nn.Module):
    """Output placement: all steps in one ``nn.GRU``, then all reads at once."""

    def __init__(self, embedding: int, hidden: int):
        super().__init__()
        self.rnn = nn.GRU(embedding, hidden)
        self.join = nn.Linear(2 * hidden, hidden, bias=False)

    def forward(self, embedded: Tensor, memory: Memory) -> Tensor:
        """tanh(W [c_t; s_t]) after every word."""
        states = self.rnn(embedded, memory.last[None])[0].transpose(0, 1)
        scores = torch.bmm(states, memory.values.transpose(1, 2)) + memory.barred[:, None]
        context = torch.bmm(F.softmax(scores, dim=-1), memory.values)
        return torch.tanh(self.join(torch.cat([context, states], dim=-1))).transpose(0, 1)


class Learning:
    """The update: gradient, clipping, Adam."""

    def __init__(self, model: Translator, rate: float, clip_norm: float):
        self.model, self.clip_norm = model, clip_norm
        self.optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)

    def update(self, batch: TorchBatch) -> Tensor:
        """Train on one batch; return its loss before the update."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip_norm)
        self.optimizer.step()
        return loss.detach()

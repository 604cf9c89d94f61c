"""mGENRE: how likely a sequence model finds a candidate's title behind a text with the name marked.

The encoder reads each text once. All titles of its candidates go through the decoder at once, as a tree: a token looks
back on its own title's beginning only, and a beginning that titles share is computed once. The probabilities of all
steps are then known, and the paper's constrained beam search (`beam`) only chooses among them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.encoders.models import Model, reading
from namesake.encoders.tree import Tree
from namesake.errors import NamesakeError

BUDGET = {"cpu": 1 << 11, "cuda": 1 << 16}
"""Tokens of texts that are read together, padding included."""
ROWS = 1024
"""Places whose words are weighed together: each has a number for each of a quarter of a million words."""
LETTERS = 16
"""Letters that a token has at most, for the purpose of cutting a text: few have more than six."""

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A text with the name marked, as tokens, and the titles that may be meant, as a tree."""

    text: Sequence[int]
    tree: Tree


class MGenre:
    """A sequence model of the mBART kind, such as facebook/mgenre-wiki."""

    def __init__(self, loaded: Model, penalty: float = 1.0) -> None:
        """`penalty`: a title's log-likelihood is divided by its length to this power; the paper's is 1."""
        config = loaded.model.config
        if config.model_type != "mbart":
            raise NamesakeError(f"{loaded.where}: is a model of the kind {config.model_type}, and mGENRE is an mbart")
        self.loaded, self.penalty = loaded, penalty
        self.begin, self.end = int(config.decoder_start_token_id or config.eos_token_id), int(config.eos_token_id)
        self.pad = int(config.pad_token_id)
        self.budget = BUDGET[loaded.device.partition(":")[0]]
        self._lock = threading.Lock()
        self._title = lru_cache(maxsize=1 << 16)(self._tokens_of_title)

    # what is asked
    def question(self, text: str, span: tuple[int, int], titles: Sequence[str], context: int) -> Question:
        """The text around a span, `context` tokens on each side, and the titles that may be meant."""
        with self._lock:  # a tokenizer cannot be used by two threads
            return self._question(text, span, titles, context)

    def _question(self, text: str, span: tuple[int, int], titles: Sequence[str], context: int) -> Question:
        start, end = span
        left = self._cut(text[max(start - context * LETTERS, 0) : start], context, last=True)
        right = self._cut(text[end : end + context * LETTERS], context, last=False)
        marked = f"{left}[START] {text[start:end][: context * LETTERS]} [END]{right}"
        ids = self.loaded.tokenizer(marked, truncation=True, max_length=self._most)["input_ids"]
        return Question(ids, Tree.of([self._title(title) for title in titles], self.begin, self.end))

    @property
    def _most(self) -> int:
        return int(self.loaded.model.config.max_position_embeddings)

    def _tokens_of_title(self, title: str) -> tuple[int, ...]:
        return tuple(self.loaded.tokenizer(title, add_special_tokens=False)["input_ids"])

    def _cut(self, text: str, tokens: int, last: bool) -> str:
        """The first, or last, so many tokens of a text, as text."""
        cut = self.loaded.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False)
        places = cut["offset_mapping"]
        if len(places) <= tokens:
            return text
        return text[places[-tokens][0] :] if last else text[: places[tokens - 1][1]]

    # what is answered
    def answers(self, questions: Sequence[Question], beam: int = 0) -> list[Float64]:
        """For each question the likelihood of every title; with a `beam`, 0 for those that the search does not find."""
        answers: list[Float64] = [np.zeros(0)] * len(questions)
        with self._lock:
            for at, logs in self._all_logs(questions):
                answers[at] = questions[at].tree.likelihoods(logs, self.penalty, beam)
        return answers

    def _all_logs(self, questions: Sequence[Question]) -> list[tuple[int, Float64]]:
        """The log-probability of every edge of each question's tree; like sizes go together."""
        import torch

        waiting = sorted(range(len(questions)), key=lambda at: _kind(questions[at]), reverse=True)
        found: list[tuple[int, Float64]] = []
        while waiting:
            size = self._together([questions[at] for at in waiting[: self.budget]])
            some = waiting[:size]
            try:
                found += zip(some, self._logs([questions[at] for at in some]), strict=True)
            except torch.OutOfMemoryError:
                if len(some) == 1:
                    raise NamesakeError(
                        f"{self.loaded.where}: the GPU's memory does not suffice for a single text"
                    ) from None
                torch.cuda.empty_cache()
                self.budget //= 2
                continue
            del waiting[:size]
        return found

    def _together(self, questions: list[Question]) -> int:
        """How many of the first questions go together: neither texts nor trees, padded, go beyond the budget."""
        longest = most = 0
        for count, question in enumerate(questions):
            longest, most = max(longest, len(question.text)), max(most, len(question.tree.tokens))
            if count and (count + 1) * max(longest, most) > self.budget:
                return count
        return len(questions)

    def _logs(self, questions: list[Question]) -> list[Float64]:
        import torch

        model, device = self.loaded.model, self.loaded.device
        text, real = self._padded([question.text for question in questions])
        trees = [question.tree for question in questions]
        tokens, _ = self._padded([tree.tokens for tree in trees])
        depths = np.zeros(tokens.shape, np.int64)
        sees = np.zeros((len(trees), 1, tokens.shape[1], tokens.shape[1]), np.bool_)
        sees[:, 0] |= np.eye(tokens.shape[1], dtype=np.bool_)  # padding looks at itself: nothing at all would be NaN
        for at, tree in enumerate(trees):
            depths[at, : len(tree.tokens)] = tree.depths
            sees[at, 0, : len(tree.tokens), : len(tree.tokens)] = tree.sees()
        put = [torch.from_numpy(array).to(device) for array in (text, real, tokens, depths, sees)]
        with reading(torch):
            read = model.get_encoder()(input_ids=put[0], attention_mask=put[1].long()).last_hidden_state
            hidden = decode(model, put[2], put[3], put[4], read, put[1][:, None, None, :])
            return self._edge_logs(trees, hidden)

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        lengths = np.array([len(row) for row in rows])
        real = np.arange(lengths.max())[None, :] < lengths[:, None]
        padded = np.full(real.shape, self.pad, np.int64)
        padded[real] = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        return padded, real

    def _edge_logs(self, trees: list[Tree], hidden: Any) -> list[Float64]:
        """The log-probability of every edge: each node's words are weighed once, however many edges begin there."""
        import torch

        model = self.loaded.model
        width = hidden.shape[1]
        places = np.concatenate(
            [at * width + np.array([edge[0] for edge in tree.edges]) for at, tree in enumerate(trees)]
        )
        tokens = np.concatenate([np.array([edge[1] for edge in tree.edges]) for tree in trees])
        nodes, of_edge = np.unique(places, return_inverse=True)
        rows = hidden.reshape(-1, hidden.shape[-1])[torch.from_numpy(nodes).to(hidden.device)]
        logs = np.empty(len(tokens))
        order = np.argsort(of_edge, kind="stable")
        bounds = np.searchsorted(of_edge[order], np.arange(0, len(nodes) + ROWS, ROWS))
        for block, (first, last) in enumerate(pairwise(bounds.tolist())):
            edges = order[first:last]
            if not len(edges):
                continue
            words = model.lm_head(rows[block * ROWS : (block + 1) * ROWS]) + model.final_logits_bias
            node = torch.from_numpy(of_edge[edges] - block * ROWS).to(hidden.device)
            token = torch.from_numpy(tokens[edges]).to(hidden.device)
            said = words[node, token].float() - torch.logsumexp(words.float(), -1)[node]
            logs[edges] = said.double().cpu().numpy()
        if not np.isfinite(logs).all():
            raise NamesakeError(f"{self.loaded.where}: gave a probability that is not finite")
        ends = np.cumsum([len(tree.edges) for tree in trees])
        return np.split(logs, ends[:-1])


def _kind(question: Question) -> tuple[int, int]:
    """What questions that go together have in common: trees of a size, and then texts of a length."""
    return len(question.tree.tokens).bit_length(), len(question.text)


def decode(model: Any, tokens: Any, depths: Any, sees: Any, read: Any, real: Any) -> Any:
    """mBART's decoder over trees: the model's own cannot place a token elsewhere than behind the one before it.

    Args:
        model: an mBART.
        tokens: of the nodes, [questions, nodes].
        depths: how far from the beginning each node is.
        sees: which nodes each looks back on, [questions, 1, nodes, nodes].
        read: what the encoder made of the texts, [questions, tokens, numbers].
        real: which of the texts' tokens are no padding, [questions, 1, 1, tokens].
    """
    from torch.nn.functional import scaled_dot_product_attention

    decoder = model.get_decoder()
    heads = model.config.decoder_attention_heads

    def attend(attention: Any, hidden: Any, to: Any, mask: Any) -> Any:
        """Attention with the weights of a layer, every head at once."""
        given = ((attention.q_proj, hidden), (attention.k_proj, to), (attention.v_proj, to))
        asks, keys, values = (by(what).unflatten(-1, (heads, -1)).transpose(1, 2) for by, what in given)
        mixed = scaled_dot_product_attention(asks, keys, values, attn_mask=mask)
        return attention.out_proj(mixed.transpose(1, 2).flatten(2))

    positions = decoder.embed_positions
    hidden = decoder.embed_tokens(tokens) + positions.weight[depths + positions.offset]
    hidden = decoder.layernorm_embedding(hidden)
    for layer in decoder.layers:
        own = layer.self_attn_layer_norm(hidden)
        hidden = hidden + attend(layer.self_attn, own, own, sees)
        hidden = hidden + attend(layer.encoder_attn, layer.encoder_attn_layer_norm(hidden), read, real)
        inner = layer.activation_fn(layer.fc1(layer.final_layer_norm(hidden)))
        hidden = hidden + layer.fc2(inner)
    return decoder.layer_norm(hidden)

"""mGENRE: the likelihood of a candidate's title given a text with the name marked.

The encoder reads each text once. The decoder reads all titles of its candidates at once, as a tree: a token attends to
the beginning of its own title only, and a prefix that titles share is computed once. This gives the probabilities of
all steps; the paper's constrained beam search (`beam`) only selects among them.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from namesake.encoders.transformer import Model, in_batches, load_model, padded, reading
from namesake.errors import NamesakeError

BUDGET = {"cpu": 1 << 11, "cuda": 1 << 16}  # tokens of texts in a batch, including padding
ROWS = 1024  # positions in a batch of the output layer, which has a quarter of a million numbers for each
LETTERS = 16
"""An upper bound of the letters of a token, to cut a text before it is tokenized; few tokens have more than six."""

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tree:
    """The titles of a mention's candidates. Node 0 begins every title; an edge adds a token; an end has no node."""

    tokens: list[int]
    parents: list[int]  # -1 for node 0; a node comes after its parent
    edges: list[tuple[int, int]]  # the node at which each edge begins, and its token
    paths: list[list[int]]  # the edges of each title

    @classmethod
    def of(cls, titles: Sequence[Sequence[int]], begin: int, end: int) -> Self:
        """Build the tree from titles as tokens; `begin` precedes and `end` follows each title."""
        named = [tuple(title) for title in titles]
        prefixes = dict.fromkeys([(), *(title[:size] for title in named for size in range(1, len(title) + 1))])
        node = {prefix: at for at, prefix in enumerate(prefixes)}
        steps = [[(node[title[:at]], token) for at, token in enumerate((*title, end))] for title in named]
        edges = dict.fromkeys(step for path in steps for step in path)
        number = {edge: at for at, edge in enumerate(edges)}
        tokens = [prefix[-1] if prefix else begin for prefix in prefixes]
        parents = [node[prefix[:-1]] if prefix else -1 for prefix in prefixes]
        paths = [[number[step] for step in path] for path in steps]
        return cls(tokens, parents, list(edges), paths)

    def sees(self) -> npt.NDArray[np.bool_]:
        """Return the attention mask: each node sees itself and its ancestors."""
        seen = np.eye(len(self.tokens), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] |= seen[parent]
        return seen

    def likelihoods(self, logs: Float64, beam: int = 0) -> Float64:
        """Return exp(Σ log p / length) of each title; with a `beam`, 0 if the search does not find it."""
        found = self.searched(logs, beam) if beam else range(len(self.paths))
        likely = [np.exp(logs[path].sum() / len(path)) for path in self.paths]
        return np.array([one if title in found else 0.0 for title, one in enumerate(likely)])

    def searched(self, logs: Float64, beam: int) -> set[int]:
        """Return the titles that a beam search finds: it keeps the `beam` best prefixes and ends with `beam` titles."""
        found: set[tuple[int, ...]] = set()
        alive: list[tuple[int, ...]] = [()]
        ends = {tuple(path) for path in self.paths}
        longer_by_prefix: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for path in self.paths:
            for size in range(len(path)):
                longer_by_prefix.setdefault(tuple(path[:size]), set()).add(tuple(path[: size + 1]))
        while alive and len(found) < beam:
            longer = [extended for path in alive for extended in sorted(longer_by_prefix.get(path, ()))]
            longer.sort(key=lambda path: -logs[list(path)].sum())
            found |= {path for path in longer[:beam] if path in ends}
            alive = [path for path in longer[: 2 * beam] if path in longer_by_prefix][:beam]
        return {title for title, path in enumerate(self.paths) if tuple(path) in found}


class Question(NamedTuple):
    """A text with the name marked, as tokens, and the titles of the candidates, as a tree."""

    text: Sequence[int]
    tree: Tree


class MGenre:
    """A sequence model of the mBART architecture, such as facebook/mgenre-wiki."""

    def __init__(self, loaded: Model) -> None:
        config = loaded.model.config
        if config.model_type != "mbart":
            raise NamesakeError(f"{loaded.where}: is a model of the kind {config.model_type}, and mGENRE is an mbart")
        self.loaded = loaded
        self.begin, self.end = int(config.decoder_start_token_id or config.eos_token_id), int(config.eos_token_id)
        self.pad = int(config.pad_token_id)
        self.budget = BUDGET[loaded.device.partition(":")[0]]
        self._lock = threading.Lock()
        self._title = lru_cache(maxsize=1 << 16)(
            lambda title: tuple(loaded.tokenizer(title, add_special_tokens=False)["input_ids"])
        )

    def question(self, text: str, span: tuple[int, int], titles: Sequence[str], context: int) -> Question:
        """Return the text around a span, `context` tokens on each side, with the titles of the candidates."""
        start, end = span
        most = int(self.loaded.model.config.max_position_embeddings)
        with self._lock:  # a tokenizer cannot be used by two threads
            left = self._cut(text[max(start - context * LETTERS, 0) : start], context, last=True)
            right = self._cut(text[end : end + context * LETTERS], context, last=False)
            marked = f"{left}[START] {text[start:end][: context * LETTERS]} [END]{right}"
            ids = self.loaded.tokenizer(marked, truncation=True, max_length=most)["input_ids"]
            return Question(ids, Tree.of([self._title(title) for title in titles], self.begin, self.end))

    def _cut(self, text: str, tokens: int, last: bool) -> str:
        """The first or last tokens of a text, as text."""
        cut = self.loaded.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False)
        places = cut["offset_mapping"]
        if len(places) <= tokens:
            return text
        return text[places[-tokens][0] :] if last else text[: places[tokens - 1][1]]

    def answers(self, questions: Sequence[Question], beam: int = 0) -> list[Float64]:
        """Return the likelihood of every title of each question; with a `beam`, 0 for titles that the search misses."""
        answers: list[Float64] = [np.zeros(0)] * len(questions)
        sizes = [(len(each.tree.tokens).bit_length(), len(each.text)) for each in questions]
        waiting = sorted(range(len(questions)), key=sizes.__getitem__, reverse=True)

        def fit(begin: int) -> int:
            return self._together([questions[at] for at in waiting[begin : begin + self.budget]])

        with self._lock:
            for some, found in in_batches(self, waiting, fit, lambda some: self._logs([questions[at] for at in some])):
                for at, logs in zip(some, found, strict=True):
                    answers[at] = questions[at].tree.likelihoods(logs, beam)
        return answers

    def _together(self, questions: list[Question]) -> int:
        """The number of first questions in a batch: neither padded texts nor padded trees exceed the budget."""
        longest = most = 0
        for count, question in enumerate(questions):
            longest, most = max(longest, len(question.text)), max(most, len(question.tree.tokens))
            if count and (count + 1) * max(longest, most) > self.budget:
                return count
        return len(questions)

    def _logs(self, questions: list[Question]) -> list[Float64]:
        import torch

        model, device = self.loaded.model, self.loaded.device
        text, real = padded([question.text for question in questions], self.pad)
        trees = [question.tree for question in questions]
        tokens, _ = padded([tree.tokens for tree in trees], self.pad)
        depths = np.zeros(tokens.shape, np.int64)
        sees = np.zeros((len(trees), 1, tokens.shape[1], tokens.shape[1]), np.bool_)
        sees[:, 0] |= np.eye(tokens.shape[1], dtype=np.bool_)  # padding attends to itself: an empty row would give NaN
        for at, tree in enumerate(trees):
            size, seen = len(tree.tokens), tree.sees()
            depths[at, :size], sees[at, 0, :size, :size] = seen.sum(axis=1) - 1, seen
        put = [torch.from_numpy(array).to(device) for array in (text, real, tokens, depths, sees)]
        with reading(torch):
            read = model.get_encoder()(input_ids=put[0], attention_mask=put[1].long()).last_hidden_state
            hidden = decode(model, put[2], put[3], put[4], read, put[1][:, None, None, :])
            return self._edge_logs(trees, hidden)

    def _edge_logs(self, trees: list[Tree], hidden: Any) -> list[Float64]:
        """The log-probability of every edge; the output layer runs once for each node."""
        import torch

        model, width = self.loaded.model, hidden.shape[1]
        asked = [(at * width + node, token) for at, tree in enumerate(trees) for node, token in tree.edges]
        places, tokens = np.array(asked).T
        nodes, of_edge = np.unique(places, return_inverse=True)
        rows = hidden.reshape(-1, hidden.shape[-1])[torch.from_numpy(nodes).to(hidden.device)]
        logs = np.empty(len(tokens))
        for first in range(0, len(nodes), ROWS):
            edges = np.flatnonzero(of_edge // ROWS == first // ROWS)
            words = model.lm_head(rows[first : first + ROWS]) + model.final_logits_bias
            node = torch.from_numpy(of_edge[edges] - first).to(hidden.device)
            token = torch.from_numpy(tokens[edges]).to(hidden.device)
            said = words[node, token].float() - torch.logsumexp(words.float(), -1)[node]
            logs[edges] = said.double().cpu().numpy()
        if not np.isfinite(logs).all():
            raise NamesakeError(f"{self.loaded.where}: gave a probability that is not finite")
        ends = np.cumsum([len(tree.edges) for tree in trees])
        return np.split(logs, ends[:-1])


@lru_cache(maxsize=1)
def load_mgenre(where: str) -> MGenre:
    """The model with this name or in this folder."""
    return MGenre(load_model(where, "seq2seq"))


def decode(model: Any, tokens: Any, depths: Any, sees: Any, read: Any, real: Any) -> Any:
    """Run mBART's decoder over trees, since the model's own takes sequences only; `read` is the encoder's output.

    Shapes: tokens and depths [questions, nodes], sees [questions, 1, nodes, nodes], real [questions, 1, 1, tokens].
    """
    from torch.nn.functional import scaled_dot_product_attention

    decoder = model.get_decoder()
    heads = model.config.decoder_attention_heads

    def attend(attention: Any, hidden: Any, to: Any, mask: Any) -> Any:
        """Attention with the weights of a layer, for all heads."""
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

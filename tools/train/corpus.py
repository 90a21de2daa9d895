"""Texts to packed rows of tokens: reads the outside corpus, adds the own writing, splits, weighs, packs.

A conversation is `<|user|>text<|assistant|>reply<|endoftext|>`, repeated. It is cut into windows of at most `context`
tokens that begin with a user's turn. Windows are packed into rows; attention and positions start anew at each of them,
so training sees what inference sees, and no token is spent on padding.
"""

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bpe import ASSISTANT, END, USER, Tokenizer
from generate.mixture import conversations

# How often each source is seen in one pass. Chat about films and bookings is most of the corpus and the least like an
# assistant: less of it. Own writing ("own-*") is generated, so its amount is a count, not a weight.
WEIGHTS = {
    "self-dialogue": 0.40, "sgd": 0.15, "topical-chat": 0.70, "taskmaster4": 0.3, "personality-chat": 1.2, "webquestions": 0.6,
    "wordset": 0.5, "opentriviaqa": 0.6, "jokes": 2.0, "chatterbot": 1.0, "oasst-eval": 1.0, "llms-from-scratch": 1.5, "prose": 0.15,
}  # fmt: skip
HELD_OUT_BYTES = 4  # a text is held out if the first byte of its MD5 is below this: 1.6 % of the texts


@dataclass
class Window:
    source: str
    ids: np.ndarray  # [n] uint16
    reply: np.ndarray  # [n] bool: a token that the assistant says (or any of prose)


@dataclass
class Rows:
    ids: np.ndarray  # [rows, context] uint16
    kind: np.ndarray  # [rows, context] uint8: 0 padding, 1 user, 2 assistant or prose
    segment: np.ndarray  # [rows, context] uint8: which window of the row; 255 is padding
    position: np.ndarray  # [rows, context] uint16: counted from the window's start


def read_lines(folder: Path, name: str) -> Iterator[str]:
    """Lines of folder/name or folder/name.gz; none if the corpus has no such file."""
    for path, opener in ((folder / name, open), (folder / f"{name}.gz", gzip.open)):
        if path.exists():
            with opener(path, "rt", encoding="utf-8") as lines:
                yield from lines
            return


def outside_chats(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """chat.jsonl: {"source": ..., "turns": [{"role": ..., "content": ...}, ...]} a line, user and assistant in turn."""
    for line in read_lines(folder, "chat.jsonl"):
        row = json.loads(line)
        if not row["source"].startswith("synthetic-"):  # made by an earlier form of what generate/ makes
            yield row["source"], [turn["content"] for turn in row["turns"]]


def prose(folder: Path) -> list[str]:
    """plain.txt: passages, parted by empty lines."""
    return [p.strip() for p in "".join(read_lines(folder, "plain.txt")).split("\n\n") if p.strip()]


def is_held_out(key: str) -> bool:
    return hashlib.md5(key.encode()).digest()[0] < HELD_OUT_BYTES


def chat_windows(source: str, turns: list[str], tokenizer: Tokenizer, context: int) -> Iterator[Window]:
    ids: list[int] = []
    reply: list[bool] = []
    for user, assistant in zip(turns[::2], turns[1::2]):
        asked, said = [USER, *tokenizer.encode(user), ASSISTANT], [*tokenizer.encode(assistant), END]
        pair, flags = (asked + said)[:context], ([False] * len(asked) + [True] * len(said))[:context]
        if len(ids) + len(pair) > context:
            yield Window(source, np.array(ids, np.uint16), np.array(reply))
            ids, reply = [], []
        ids, reply = ids + pair, reply + flags
    if ids:
        yield Window(source, np.array(ids, np.uint16), np.array(reply))


def prose_windows(passage: str, tokenizer: Tokenizer, context: int) -> Iterator[Window]:
    ids = np.array([*tokenizer.encode(passage), END], np.uint16)
    for start in range(0, len(ids), context):
        part = ids[start : start + context]
        if len(part) >= 16:
            yield Window("prose", part, np.ones(len(part), bool))


def texts(folder: Path, own: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """(source, turns) of every conversation, outside and own, and ("prose", [passage])."""
    yield from outside_chats(folder)
    for kind, turns in conversations(own, seed, folder / "countries.json"):
        yield f"own-{kind}", turns
    for passage in prose(folder):
        yield "prose", [passage]


def load(folder: Path, tokenizer: Tokenizer, context: int, own: int, seed: int, held_out: bool) -> list[Window]:
    """The windows to train on, or those held out. `own` conversations of own writing are generated with `seed`."""
    windows: list[Window] = []
    for source, turns in texts(folder, own, seed):
        if is_held_out("|".join(turns)) == held_out:
            if source == "prose":
                windows.extend(prose_windows(turns[0], tokenizer, context))
            else:
                windows.extend(chat_windows(source, turns, tokenizer, context))
    return windows


def texts_for_tokenizer(folder: Path, own: int = 40_000) -> list[str]:
    return [turn for _, turns in texts(folder, own, seed=1) for turn in turns]


def weighted(windows: list[Window], rng: np.random.Generator) -> list[Window]:
    """One pass: a window of weight 1.4 comes once, and again with chance 0.4."""
    out = []
    for window in windows:
        weight = WEIGHTS.get(window.source, 1.0)
        out += [window] * (int(weight) + int(rng.random() < weight - int(weight)))
    return out


def pack(windows: list[Window], context: int, rng: np.random.Generator, open_rows: int = 48) -> Rows:
    """Best fit of shuffled windows into a few open rows; when there are too many open rows the fullest is closed."""
    closed: list[list[Window]] = []
    rows: list[list[Window]] = []
    space: list[int] = []
    for index in rng.permutation(len(windows)):
        window = windows[index]
        fitting = [(left, i) for i, left in enumerate(space) if left >= len(window.ids)]
        if fitting:
            i = min(fitting)[1]
            rows[i].append(window)
            space[i] -= len(window.ids)
        else:
            i = len(rows)
            rows.append([window])
            space.append(context - len(window.ids))
        if space[i] < 8 or len(rows) > open_rows:
            i = min(range(len(rows)), key=space.__getitem__)
            closed.append(rows.pop(i))
            space.pop(i)
    closed += rows
    shape = (len(closed), context)
    out = Rows(
        np.zeros(shape, np.uint16), np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8), np.zeros(shape, np.uint16)
    )
    for row, target in zip(closed, rng.permutation(len(closed))):
        start = 0
        for segment, window in enumerate(row):
            end = start + len(window.ids)
            out.ids[target, start:end] = window.ids
            out.kind[target, start:end] = window.reply + 1
            out.segment[target, start:end] = segment
            out.position[target, start:end] = np.arange(end - start)
            start = end
    return out


def group(source: str) -> str:
    """Held-out figures are told apart by these: real chat, own writing, prose."""
    return "prose" if source == "prose" else "own" if source.startswith("own-") else "real"

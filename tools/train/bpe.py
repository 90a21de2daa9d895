"""Byte-level BPE as GPT-2 has it: trainer, encoder, and the tokenizer.json that Hugging Face's tokenizers read."""

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import regex

SPECIAL = ["<|endoftext|>", "<|user|>", "<|assistant|>"]
END, USER, ASSISTANT = range(3)
PIECES = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def byte_symbols() -> dict[int, str]:
    """GPT-2's printable stand-in for each byte: itself where it prints, else a letter from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in symbols:
            symbols[byte] = chr(256 + len(symbols) - len(printable))
    return symbols


SYMBOLS = byte_symbols()
BYTES = {symbol: byte for byte, symbol in SYMBOLS.items()}


def merged(word: list[str], pair: tuple[str, str]) -> list[str]:
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


class Tokenizer:
    def __init__(self, vocabulary: list[str], merges: list[tuple[str, str]]) -> None:
        self.vocabulary, self.merges = vocabulary, merges
        self.ids = {token: i for i, token in enumerate(vocabulary)}
        self.rank = {pair: i for i, pair in enumerate(merges)}
        self.cache: dict[str, list[int]] = {}

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        model = json.loads(Path(path).read_text(encoding="utf-8"))["model"]
        vocabulary = sorted(model["vocab"], key=model["vocab"].get)
        return cls(vocabulary, [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]])

    def encode_piece(self, piece: str) -> list[int]:
        word = [SYMBOLS[byte] for byte in piece.encode()]
        while len(word) > 1:
            best = min(zip(word, word[1:]), key=lambda pair: self.rank.get(pair, len(self.rank)))
            if best not in self.rank:
                break
            word = merged(word, best)
        return [self.ids[token] for token in word]

    def encode(self, text: str) -> list[int]:
        """Plain text only: special tokens are added by their ids, never read out of a text."""
        ids = []
        for piece in PIECES.findall(text):
            known = self.cache.get(piece)
            if known is None:
                known = self.cache[piece] = self.encode_piece(piece)
            ids += known
        return ids

    def byte_length(self, token: int) -> int:
        return 0 if token < len(SPECIAL) else len(self.vocabulary[token])

    def decode(self, ids: Iterable[int]) -> str:
        parts = (
            self.vocabulary[i].encode() if i < len(SPECIAL) else bytes(BYTES[c] for c in self.vocabulary[i])
            for i in ids
        )
        return b"".join(parts).decode("utf-8", "replace")

    def save(self, path: Path) -> None:
        added = [
            {
                "id": i,
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for i, token in enumerate(SPECIAL)
        ]
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        model = {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": self.ids, "merges": [" ".join(pair) for pair in self.merges],
        }  # fmt: skip
        whole = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": byte_level, "post_processor": None, "decoder": {**byte_level, "add_prefix_space": True}, "model": model,
        }  # fmt: skip
        Path(path).write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")


def train(texts: Iterable[str], size: int) -> Tokenizer:
    """Merges the most frequent pair again and again. A heap holds (-count, pair); entries that went stale are skipped."""
    pieces: Counter = Counter()
    for text in texts:
        pieces.update(PIECES.findall(text))
    words = [[SYMBOLS[byte] for byte in piece.encode()] for piece, count in pieces.items() if count > 1]
    counts = [count for count in pieces.values() if count > 1]
    pairs: Counter = Counter()
    where: dict[tuple, set[int]] = defaultdict(set)
    for i, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pairs[pair] += counts[i]
            where[pair].add(i)
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(heap)
    vocabulary, merges = [*SPECIAL, *sorted(SYMBOLS.values())], []
    known = set(vocabulary)
    while len(vocabulary) < size and heap:
        count, pair = heapq.heappop(heap)
        if pairs.get(pair, 0) != -count:
            continue
        if -count < 2:
            break
        merges.append(pair)
        if "".join(pair) not in known:
            vocabulary.append("".join(pair))
            known.add("".join(pair))
        changed = set()
        for i in where.pop(pair):
            for old in zip(words[i], words[i][1:]):
                pairs[old] -= counts[i]
                changed.add(old)
            words[i] = merged(words[i], pair)
            for new in zip(words[i], words[i][1:]):
                pairs[new] += counts[i]
                where[new].add(i)
                changed.add(new)
        del pairs[pair]
        for other in changed - {pair}:
            if pairs[other] > 0:
                heapq.heappush(heap, (-pairs[other], other))
    return Tokenizer(vocabulary, merges)

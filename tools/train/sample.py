"""Replies of a model folder: greedy for checks that count, sampled as its generation_config.json says for what people see.

python3 sample.py --model MODEL_FOLDER "Hello" "Tell me a joke"      # one conversation, the texts are the user's turns
"""

import argparse
import json
from pathlib import Path

import torch

from bpe import ASSISTANT, END, USER, Tokenizer
from model import extend, load_folder


class Chat:
    def __init__(self, folder: Path) -> None:
        self.model = load_folder(folder).eval()
        self.tokenizer = Tokenizer.load(folder / "tokenizer.json")
        self.settings = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
        self.context = self.model.config.n_positions

    def prompt(self, turns: list[str]) -> list[int]:
        """User and assistant in turn; the oldest exchanges are left out while less than a quarter of the context is free."""
        ids: list[int] = []
        for i, turn in enumerate(turns):
            ids += [ASSISTANT, *self.tokenizer.encode(turn), END] if i % 2 else [USER, *self.tokenizer.encode(turn)]
        ids.append(ASSISTANT)
        return self.prompt(turns[2:]) if len(ids) > self.context * 3 // 4 and len(turns) > 2 else ids

    def pick(self, logits: torch.Tensor, ids: list[int], greedy: bool) -> int:
        penalty = self.settings.get("repetition_penalty", 1.0)
        if penalty != 1.0:
            seen = torch.tensor(sorted(set(ids)))
            logits[seen] = torch.where(logits[seen] > 0, logits[seen] / penalty, logits[seen] * penalty)
        if greedy:
            return int(logits.argmax())
        kept, tokens = torch.topk(logits / self.settings["temperature"], self.settings.get("top_k") or len(logits))
        chances = torch.softmax(kept, -1)
        chances = chances * (torch.cumsum(chances, 0) - chances < self.settings.get("top_p", 1.0))
        return int(tokens[torch.multinomial(chances / chances.sum(), 1)])

    def reply(self, turns: list[str], greedy: bool = False, at_most: int = 200) -> tuple[str, bool]:
        """(text, whether it ended by itself)."""
        ids = self.prompt(turns)
        start, new = len(ids), ids
        past: list = []
        while len(ids) < min(self.context, start + at_most):
            token = self.pick(extend(self.model, new, past), ids, greedy)
            if token == END:
                return self.tokenizer.decode(ids[start:]), True
            new = [token]
            ids = ids + new
        return self.tokenizer.decode(ids[start:]), False

    def conversation(self, user_turns: list[str]) -> list[tuple[str, bool]]:
        """Every reply, each with the replies before it in its prompt."""
        turns: list[str] = []
        replies = []
        for user in user_turns:
            turns.append(user)
            replies.append(self.reply(turns))
            turns.append(replies[-1][0])
        return replies


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("turns", nargs="+")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    for said, (text, _) in zip(options.turns, Chat(options.model).conversation(options.turns)):
        print(f"> {said}\n{text}\n")

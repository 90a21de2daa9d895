"""What a model can and cannot do, as Markdown tables; several models stand side by side, asked the same.

    python3 evaluate.py --corpus FOLDER --model MODEL_FOLDER [--model ANOTHER] --out evaluation.md

Checks that count are greedy; the prompts are sampled as each model's generation_config.json says, with a fixed seed.
"""

import argparse
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import torch

from corpus import load
from generate.knowledge import POPULAR, load_countries
from generate.stories import ANIMALS
from generate.words import HELD_OUT_NAMES, HELD_OUT_PETS
from sample import Chat
from train import held_out, held_out_rows

OTHER_HEROES = "walrus rhino pelican lemur cactus lobster peacock raccoon moose toaster".split()  # in no story's list
NICE_TO_MEET = "Nice to meet you, {}! How can I help you?"


def numbers_asked(word: str, low: int, high: int, how_many: int) -> list[tuple[str, str]]:
    """(question, result), the same for every model."""
    rng = Random(f"{word}{high}")
    pairs = [sorted((rng.randint(low, high), rng.randint(low, high)), reverse=True) for _ in range(how_many)]
    result = {"plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "times": lambda a, b: a * b}[word]
    return [(f"What is {a} {word} {b}?", str(result(a, b))) for a, b in pairs]


def last_number(text: str) -> str:
    return (re.findall(r"\d+", text) or [""])[-1]


def says(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE) is not None


def count(chat: Chat, cases: list[tuple[list[str], str]], right: Callable[[str, str], bool], at_most: int = 40) -> str:
    return f"{sum(right(wanted, chat.reply(turns, greedy=True, at_most=at_most)[0]) for turns, wanted in cases)} of {len(cases)}"


def counted_checks(chat: Chat, countries: Path) -> dict[str, str]:
    def sums(word: str, low: int, high: int) -> str:
        cases = [([question], result) for question, result in numbers_asked(word, low, high, 50)]
        return count(chat, cases, lambda wanted, text: last_number(text) == wanted)

    named = [(["My name is " + n + ".", NICE_TO_MEET.format(n), "What is my name?"], n) for n in HELD_OUT_NAMES]
    aside = ["What color is the sky?", "The sky is usually blue during the day."]
    later = [([*turns[:2], *aside, turns[2]], n) for turns, n in named]
    pets = [
        ([f"I have a {kind} called {n}.", f"{n} is a lovely name for a {kind}!", f"What is my {kind}'s name?"], n)
        for kind in ("dog", "cat", "rabbit", "horse") for n in HELD_OUT_PETS
    ]  # fmt: skip
    rng = Random(3)
    words = [
        " ".join(rng.sample("stone lamp bridge carrot pilot blue nine train soft castle".split(), 1 + i % 3))
        for i in range(20)
    ]
    known = {name: city for name, city, _ in load_countries(countries)}
    common = sorted(name for name in known if name.removeprefix("the ") in POPULAR)[:50]
    rare = Random(1).sample(sorted(set(known) - set(common)), 50)
    heroes = [*Random(2).sample(ANIMALS, 10), *OTHER_HEROES]
    return {
        "sums, operands 0 to 20": sums("plus", 0, 20),
        "sums, operands 10 to 99": sums("plus", 10, 99),
        "differences, operands 0 to 20": sums("minus", 0, 20),
        "differences, operands 10 to 99": sums("minus", 10, 99),
        "products, operands 0 to 12": sums("times", 0, 12),
        "names recalled": count(chat, named, says),
        "names recalled after an aside": count(chat, later, says),
        "pets' names recalled": count(chat, pets, says),
        "one to three words repeated": count(chat, [([f"Repeat after me: {w}"], w) for w in words], says),
        "capitals of well-known countries": count(
            chat, [([f"What is the capital of {n}?"], known[n]) for n in common], says
        ),
        "capitals of other countries": count(chat, [([f"What is the capital of {n}?"], known[n]) for n in rare], says),
        "stories that have the hero asked for": count(
            chat, [([f"Tell me a story about a {h}."], h) for h in heroes], says
        ),
    }


def loops(text: str) -> bool:
    """The same four words three times, or the same sentence twice."""
    words = text.lower().split()
    fours = Counter(zip(words, words[1:], words[2:], words[3:]))
    sentences = Counter(s.strip() for s in re.split(r"[.!?\n]", text.lower()) if len(s.split()) > 2)
    return max(fours.values(), default=0) >= 3 or max(sentences.values(), default=0) >= 2


def diversity(replies: list[str]) -> dict[str, str]:
    """Over all replies: distinct words and pairs per word; within a reply: the share of pairs that came before in it."""
    words = [re.findall(r"[\w']+", reply.lower()) for reply in replies]
    pairs = [list(zip(line, line[1:])) for line in words]
    total, total_pairs = sum(map(len, words)), sum(map(len, pairs))
    repeated = sum(len(line) - len(set(line)) for line in pairs)
    return {
        "distinct-1": f"{len({w for line in words for w in line}) / total:.3f}",
        "distinct-2": f"{len({p for line in pairs for p in line}) / total_pairs:.3f}",
        "pairs of words repeated within a reply": f"{repeated / total_pairs:.1%}",
        "words per reply": f"{total / len(replies):.1f}",
    }


def held_out_figures(chat: Chat, corpus: Path, contexts: list[int]) -> dict[str, str]:
    figures = {}
    for context in contexts:
        if context > chat.context:
            continue
        windows = load(corpus, chat.tokenizer, context, own=30_000, seed=7, held_out=True)
        found = held_out(chat.model, held_out_rows(windows, context), chat.tokenizer, rows_at_most=400 * 256 // context)
        for name, title in (("real", "real chat"), ("own", "own writing"), ("prose", "prose")):
            figures[f"{title}, windows of {context}: bits per byte"] = f"{found[name]['bits_per_byte']:.3f}"
            if name != "prose":
                figures[f"{title}, windows of {context}: replies only"] = f"{found[name]['reply_bits_per_byte']:.3f}"
    chat.model.eval()
    return figures


def table(title: str, names: list[str], columns: list[dict[str, str]]) -> str:
    rows = list(dict.fromkeys(key for column in columns for key in column))
    head = [f"| {title} | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    return "\n".join(head + [f"| {row} | {' | '.join(column.get(row, '-') for column in columns)} |" for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, action="append")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--context", type=int, action="append", help="lengths of held-out windows; the models' own if not given"
    )
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    chats = [Chat(folder) for folder in options.model]
    names = [folder.resolve().name for folder in options.model]
    contexts = options.context or sorted({chat.context for chat in chats})
    lines = (Path(__file__).parent / "prompts.txt").read_text(encoding="utf-8").splitlines()
    prompts = [line.split(" // ") for line in lines if not line.startswith("#")]
    tables: list[list[dict[str, str]]] = [[], [], []]
    answers = ""
    for chat in chats:
        tables[0].append(held_out_figures(chat, options.corpus, contexts))
        tables[1].append(counted_checks(chat, options.corpus / "countries.json"))
        torch.manual_seed(1)
        talks = [chat.conversation(prompt) for prompt in prompts]
        replies = [text for talk in talks for text, _ in talk]
        bad = sum(any(loops(text) or not ended for text, ended in talk) for talk in talks)
        tables[2].append({**diversity(replies), "prompts whose answer loops or breaks off": f"{bad} of {len(prompts)}"})
        answers = "\n\n".join(
            "  \n".join(
                f"**{said}**  \n{text.replace(chr(10), '  ' + chr(10))}" + ("" if ended else " ...")
                for said, (text, ended) in zip(prompt, talk)
            )
            for prompt, talk in zip(prompts, talks)
        )
    titles = (
        "held out (less is better)",
        "greedy answers that are right",
        f"replies to {len(prompts)} prompts, sampled once",
    )
    text = "\n\n".join(table(title, names, columns) for title, columns in zip(titles, tables))
    options.out.write_text(
        f"{text}\n\n## {len(prompts)} prompts and {names[-1]}'s answers, as they came\n\n{answers}\n", encoding="utf-8"
    )
    print(text)


if __name__ == "__main__":
    main()

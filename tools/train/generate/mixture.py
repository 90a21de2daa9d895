"""All kinds together: `python3 -m generate.mixture --count 5` prints some; corpus.py takes (kind, turns) from `conversations`."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from . import arithmetic, asked_form, copying, knowledge, poems, small_talk, stories, unknown

# Shares of the conversations. Stories are ten times as long as sums, so by tokens they are the largest part all the same.
SHARES = {
    "arithmetic": 46,
    "copying": 22,
    "knowledge": 17,
    "small-talk": 8,
    "story": 8,
    "asked-form": 8,
    "mixed": 6,
    "unknown": 3,
    "poem": 2,
}


def conversation(kind: str, rng: Random, countries: list) -> list[str]:
    if kind == "mixed":
        parts = rng.choices(
            ["knowledge", "arithmetic", "small-talk", "asked-form", "copying", "unknown"], k=rng.choice([2, 2, 3])
        )
        return [turn for part in parts for turn in conversation(part, rng, countries)]
    if kind == "knowledge":
        return knowledge.generate(rng, countries)
    modules = {
        "arithmetic": arithmetic,
        "copying": copying,
        "small-talk": small_talk,
        "story": stories,
        "asked-form": asked_form,
        "unknown": unknown,
        "poem": poems,
    }
    return modules[kind].generate(rng)


def conversations(count: int, seed: int, countries_file: Path | None = None) -> Iterator[tuple[str, list[str]]]:
    """`count` conversations of (kind, [user, assistant, user, ...]); the same for the same seed."""
    rng = Random(seed)
    countries = knowledge.load_countries(countries_file) if countries_file and countries_file.exists() else []
    for kind in rng.choices(list(SHARES), SHARES.values(), k=count):
        yield kind, conversation(kind, rng, countries)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--countries", type=Path)
    options = parser.parse_args()
    for kind, turns in conversations(options.count, options.seed, options.countries):
        print(json.dumps({"source": f"own-{kind}", "turns": turns}, ensure_ascii=False))

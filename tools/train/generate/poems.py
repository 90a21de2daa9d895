"""Little poems of four or eight lines; the topic that was asked for stands in the first line."""

from random import Random

from . import cards
from .words import capital, noise

TOPICS = (
    "cats,dogs,the sea,love,spring,winter,the moon,rain,friends,flowers,a tree,summer,birds,the stars,autumn,my mom,a rose,"
    "the sun,snow,happiness,horses,a river,the wind,music,coffee,a robot,butterflies,the night,my dog,a little mouse,home,tea"
).split(",")
ASK = [
    "Write a poem about {t}.",
    "Write me a poem about {t}",
    "Can you write a short poem about {t}?",
    "Make a poem about {t}.",
    "poem about {t}",
]
THIRD = [
    "I never want to be apart",
    "It always warms my heart",
    "and every moment feels like art",
    "a little joy, a brand new start",
]


def rhyme_groups() -> list[list[list[str]]]:
    """[[lines for each rhyme word of a group]]: blank lines part the groups in the card file."""
    text = (cards.FOLDER / "rhymes.txt").read_text(encoding="utf-8")
    blocks = [
        [line for line in block.splitlines() if line and not line.startswith("#")] for block in text.split("\n\n")
    ]
    return [[line.split(": ", 1)[1].split("|") for line in block] for block in blocks if block]


GROUPS = rhyme_groups()


def generate(rng: Random) -> list[str]:
    topic = rng.choice(TOPICS)
    lines = []
    for group in rng.sample(GROUPS, rng.choice([1, 2])):
        first, second, last = (rng.choice(ways) for ways in group[:3])
        lines += [
            first if "{" in first else rng.choice([way for way in group[0] if "{" in way] or [first]),
            second,
            rng.choice(THIRD),
            last,
        ]
    lines = [capital(line.format(t=topic, T=capital(topic))) for line in lines]
    poem = "\n".join(line + ("." if i % 4 == 3 else ",") for i, line in enumerate(lines))
    return [noise(rng.choice(ASK).format(t=topic), rng), poem]

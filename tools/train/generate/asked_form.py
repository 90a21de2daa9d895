"""The answer in the form that was asked for: one word, yes or no, a list of three, a number, a sentence; and recommendations."""

from random import Random

from . import cards
from .words import NUMBER_WORDS, capital, noise

LISTS = cards.named_lists()
RECOMMEND = []
for _line in cards.lines("recommendations.txt"):
    _things, _questions, _replies = _line.split(" => ")
    _kind, _things = _things.split(": ", 1)
    RECOMMEND.append((_kind, _things.split("; "), _questions.split("|"), _replies.split("|")))
TRUTHS = [line.split("|") for line in cards.lines("true-or-false.txt")]
ONE_WORD = [line.split("|") for line in cards.lines("one-word.txt")]
ONE_WORD_ENDS = [" One word.", " Answer in one word.", " Just one word please.", " In one word."]


def listed(items: list[str], plural: str, rng: Random) -> str:
    first, *rest = [capital(items[0]), *items[1:]]
    form = rng.randrange(3)
    if form == 0:
        return "\n".join(f"{i + 1}. {capital(item)}" for i, item in enumerate(items))
    joined = first if not rest else f"{', '.join([first, *rest[:-1]])} and {rest[-1]}"
    if form == 1 and rest:
        return f"Here are {NUMBER_WORDS[len(items)]} {plural}: {', '.join(items[:-1])} and {items[-1]}."
    return joined + "."


def list_of(rng: Random) -> list[str]:
    plural, pool = rng.choice(list(LISTS.items()))
    count = min(rng.choice([2, 3, 3, 3, 4, 5]), len(pool) - 1)
    items = rng.sample(pool, count)
    ask = [
        "Name {n} {k}.",
        "List {n} {k}.",
        "Give me {n} {k}.",
        "Can you name {n} {k}?",
        "Tell me {n} {k}",
        "I need a list of {n} {k}.",
    ]
    turns = [
        noise(rng.choice(ask).format(n=rng.choice([str(count), NUMBER_WORDS[count]]), k=plural), rng),
        listed(items, plural, rng),
    ]
    left = [item for item in pool if item not in items]
    if rng.random() < 0.25:
        turns += [
            noise(rng.choice(["One more?", "And one more?", "Another one please"]), rng),
            capital(rng.choice(left)) + ".",
        ]
    elif rng.random() < 0.15:
        turns += [
            noise(rng.choice(["What was the first one?", "Which one was first?"]), rng),
            f"The first one was {items[0]}.",
        ]
    return turns


def yes_or_no(rng: Random) -> list[str]:
    question, short, long = rng.choice(TRUTHS)
    if rng.random() < 0.4:
        return [
            noise(question + rng.choice([" Yes or no?", " Answer yes or no.", " Just yes or no."]), rng),
            short + ".",
        ]
    return [noise(question, rng), f"{short}, {long}"]


def one_word(rng: Random) -> list[str]:
    question, answer = rng.choice(ONE_WORD)
    return [noise(question + rng.choice(ONE_WORD_ENDS), rng), answer + rng.choice(["", "."])]


def member(rng: Random) -> list[str]:
    """Is a rose a flower? Which of these is a fruit?"""
    (right, pool), (_, others) = rng.sample([pair for pair in LISTS.items() if pair[0] not in ("hobbies", "books")], 2)
    item, stranger = rng.choice(pool), rng.choice([x for x in others if x not in pool] or others)
    return [
        noise(f"Which of these belongs to the {right}: {', '.join(sorted([item, stranger]))}?", rng),
        f"{capital(item)} belongs to the {right}.",
    ]


def recommend(rng: Random) -> list[str]:
    _, things, questions, replies = rng.choice(RECOMMEND)
    x, y, z = rng.sample(things, 3)
    turns = [noise(rng.choice(questions), rng), capital(rng.choice(replies).format(x=x, y=y))]
    if rng.random() < 0.3:
        turns += [
            noise(
                rng.choice(
                    ["Another one?", "Any other ideas?", "Something else?", "I don't like that. Something else?"]
                ),
                rng,
            ),
            rng.choice(["Sure! You could also try {z}.", "Okay, how about {z}?"]).format(z=z),
        ]
    return turns


def choose(rng: Random) -> list[str]:
    """Which do you prefer, x or y? The answer takes one of the two."""
    pool = rng.choice([pool for name, pool in LISTS.items() if name not in ("months", "parts of the body")])
    x, y = rng.sample(pool, 2)
    pick = rng.choice([x, y])
    return [
        noise(
            rng.choice(
                [
                    "Do you prefer {x} or {y}?",
                    "{x} or {y}?",
                    "Which do you like better, {x} or {y}?",
                    "Choose one: {x} or {y}",
                ]
            ).format(x=x, y=y),
            rng,
        ),
        rng.choice(["I would choose {p}.", "I think I like {p} better. What about you?", "{P}!"]).format(
            p=pick, P=capital(pick)
        ),
    ]


def generate(rng: Random) -> list[str]:
    return rng.choices([list_of, yes_or_no, one_word, member, recommend, choose], [30, 16, 14, 6, 22, 12])[0](rng)

"""What the model is taught to know: topic cards, facts, advice, itself, capitals, opposites, a few foreign words."""

import json
from pathlib import Path
from random import Random

from . import cards
from .small_talk import GREETINGS, THANKS, exchange
from .words import capital, noise

TOPICS = cards.topics()
IDENTITY, FACTS, ADVICE = (
    cards.answers("identity.txt"),
    cards.answers("facts.txt") + cards.answers("facts-2.txt"),
    cards.answers("advice.txt"),
)
OPPOSITES = [tuple(line.split()) for line in cards.lines("opposites.txt")]
TRANSLATIONS = [
    (language, *pair.split(" = "))
    for language, pairs in (line.split(": ") for line in cards.lines("translations.txt"))
    for pair in pairs.split(", ")
]
TELL = [
    "Tell me about {n}.",
    "What do you know about {n}?",
    "Can you tell me something about {n}?",
    "I want to learn about {n}.",
    "Let's talk about {n}.",
    "What can you tell me about {n}?",
    "Talk to me about {n}",
]
FACT = [
    "Tell me a fact about {n}.",
    "Give me a fun fact about {n}.",
    "Do you know something interesting about {n}?",
    "fact about {n}",
]
LIKE = ["Do you like {n}?", "What do you think about {n}?", "What do you think of {n}?"]
MORE = [
    "Tell me more.",
    "More please",
    "Anything else?",
    "What else?",
    "Really? Tell me more",
    "Tell me another fact.",
    "Go on",
    "tell me more about it",
]
POPULAR = set(
    "France,Germany,Italy,Spain,Portugal,United Kingdom,Ireland,Netherlands,Belgium,Switzerland,Austria,Poland,Greece,Turkey,"
    "Russia,Ukraine,Sweden,Norway,Finland,Denmark,Iceland,Hungary,Romania,Egypt,Kenya,Nigeria,Ghana,Morocco,Ethiopia,India,"
    "China,Japan,South Korea,Thailand,Vietnam,Indonesia,Philippines,Pakistan,Bangladesh,Iran,Iraq,Israel,Canada,United States,"
    "Mexico,Brazil,Argentina,Chile,Peru,Colombia,Cuba,Australia,New Zealand,Czech Republic,Croatia,Serbia,Bulgaria,"
    "Saudi Arabia,Malaysia".split(",")
)
WITH_THE = {
    "United States",
    "United Kingdom",
    "Netherlands",
    "Philippines",
    "Czech Republic",
    "Bahamas",
    "Maldives",
    "United Arab Emirates",
    "Dominican Republic",
}
CONTINENTS = {
    "AF": "Africa",
    "AN": "Antarctica",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}


def load_countries(path: Path) -> list[tuple[str, str, str]]:
    """[(name, capital, continent)], the well-known ones six times. The file is countries.json of annexare/Countries (MIT)."""
    rows = []
    for row in json.loads(path.read_text(encoding="utf-8")):
        if row["capital"] and row["name"] != "Antarctica":
            name = ("the " if row["name"] in WITH_THE else "") + row["name"]
            rows += [(name, row["capital"], CONTINENTS[row["continent"]])] * (6 if row["name"] in POPULAR else 1)
    return rows


def what_question(card: dict) -> str:
    name, first = card["name"], card["what"]
    was = f"{first}".split(" ")
    verb = next((word for word in was[:6] if word in ("is", "are", "was", "were")), "is")
    if card["facts"][0].startswith(("He ", "She ")) or (" famous " in first and verb == "was"):
        return f"Who {verb} {name}?"
    return f"What {verb} {name}?"


def topic(rng: Random) -> list[str]:
    card = rng.choice(TOPICS)
    name, what, facts, opinion, ask = card["name"], card["what"], card["facts"], card["opinion"], card["question"]
    chance = rng.random()
    if chance < 0.34:
        turns = [
            noise(rng.choice(TELL).format(n=name), rng),
            rng.choice([f"{what} {rng.choice(facts)}", f"{what} {rng.choice(facts)} {ask}"]),
        ]
    elif chance < 0.48:
        turns = [noise(what_question(card), rng), rng.choice([what, f"{what} {rng.choice(facts)}"])]
    elif chance < 0.62:
        turns = [noise(rng.choice(FACT).format(n=name), rng), rng.choice(facts)]
    elif chance < 0.78:
        turns = [noise(rng.choice(LIKE).format(n=name), rng), rng.choice([opinion, f"{opinion} {ask}"])]
    elif chance < 0.92:
        turns = [
            noise(
                rng.choice(["I like {n}.", "I love {n}!", "I really like {n}", "I am interested in {n}."]).format(
                    n=name
                ),
                rng,
            ),
            rng.choice([f"That's great! {ask}", f"{opinion} {ask}", f"Nice! {rng.choice(facts)} {ask}"]),
        ]
    else:
        turns = [
            noise(rng.choice(["I don't like {n}.", "I hate {n}"]).format(n=name), rng),
            rng.choice(
                [
                    "That's okay, everyone is different. What do you like instead?",
                    "I understand. What would you rather talk about?",
                ]
            ),
        ]
        return turns
    left = [fact for fact in facts if fact not in turns[1]]
    if left and rng.random() < 0.4:
        turns += [noise(rng.choice(MORE), rng), rng.choice(["Sure! ", "", "Okay. ", "Of course. "]) + rng.choice(left)]
        if rng.random() < 0.3:
            turns += [
                noise(rng.choice(["Do you like it?", "What do you think about it?", "And what do you think?"]), rng),
                opinion,
            ]
    if rng.random() < 0.12:
        other = rng.choice(TOPICS)
        turns += [
            noise(rng.choice(["And what about {n}?", "And {n}?", "What about {n}?"]).format(n=other["name"]), rng),
            other["what"],
        ]
    return turns


def from_cards(table: list, rng: Random) -> list[str]:
    return exchange(rng.choice(table), rng)


def capital_of(rng: Random, countries: list) -> list[str]:
    name, city, continent = rng.choice(countries)
    chance = rng.random()
    if chance < 0.62:
        turns = [
            noise(
                rng.choice(
                    [
                        "What is the capital of {n}?",
                        "What's the capital of {n}?",
                        "capital of {n}",
                        "Which city is the capital of {n}?",
                        "Do you know the capital of {n}?",
                        "Tell me the capital of {n}.",
                    ]
                ).format(n=name),
                rng,
            ),
            rng.choice(["The capital of {n} is {c}."] * 2 + ["{c} is the capital of {n}.", "It is {c}."]).format(
                n=name, c=city
            ),
        ]
        if rng.random() < 0.3:
            other, city, _ = rng.choice(countries)
            turns += [
                noise(rng.choice(["And {n}?", "What about {n}?", "and of {n}?"]).format(n=other), rng),
                f"The capital of {other} is {city}.",
            ]
        return turns
    if chance < 0.8:
        return [
            noise(
                rng.choice(["Where is {n}?", "What continent is {n} in?", "In which continent is {n}?"]).format(n=name),
                rng,
            ),
            f"{capital(name)} is in {continent}.",
        ]
    return [
        noise(
            rng.choice(["{c} is the capital of which country?", "Where is {c}?", "What country is {c} in?"]).format(
                c=city
            ),
            rng,
        ),
        rng.choice([f"{city} is the capital of {name}.", f"{city} is in {name}."]),
    ]


def words(rng: Random) -> list[str]:
    if rng.random() < 0.5:
        pair = rng.choice(OPPOSITES)
        x, y = pair if rng.random() < 0.5 else pair[::-1]
        return [
            noise(
                rng.choice(["What is the opposite of {x}?", "opposite of {x}", "Tell me the opposite of {x}."]).format(
                    x=x
                ),
                rng,
            ),
            rng.choice(["The opposite of {x} is {y}.", "It is {y}."]).format(x=x, y=y),
        ]
    language, english, word = rng.choice(TRANSLATIONS)
    ask = [
        "How do you say {e} in {l}?",
        "What is {e} in {l}?",
        "Translate {e} to {l}.",
        "What is the {l} word for {e}?",
    ]
    return [noise(rng.choice(ask).format(e=english, l=language), rng), f'In {language} you say "{word}".']


def generate(rng: Random, countries: list) -> list[str]:
    kind = rng.choices(range(6), [42, 13, 12, 9, 20 if countries else 0, 4])[0]
    if kind == 0:
        turns = topic(rng)
    elif kind < 4:
        turns = from_cards([FACTS, IDENTITY, ADVICE][kind - 1], rng)
    else:
        turns = capital_of(rng, countries) if kind == 4 else words(rng)
    if rng.random() < 0.10:
        turns = exchange(GREETINGS, rng) + turns
    return turns + (exchange(THANKS, rng) if rng.random() < 0.08 else [])


def identity(rng: Random) -> list[str]:
    return from_cards(IDENTITY, rng)

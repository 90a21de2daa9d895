"""What was said before has to be said again: names, pets, favourite things, "repeat after me", two turns ago."""

from random import Random

from .small_talk import filler
from .words import CITIES, COLORS, FOODS, HOBBIES, JOBS, PETS, THINGS, a, capital, noise, person_name, pet_name

NAME = (
    [
        "My name is {x}.",
        "I'm {x}.",
        "I am {x}.",
        "Hello, my name is {x}.",
        "You can call me {x}.",
        "Hi, this is {x}.",
        "my name's {x}",
    ],
    [
        "Nice to meet you, {x}! How can I help you?",
        "Hello, {x}! What would you like to talk about?",
        "Hi {x}! It is great to meet you.",
        "Hello {x}, nice to meet you.",
    ],
    [
        "What is my name?",
        "What's my name?",
        "Do you know my name?",
        "Do you remember my name?",
        "Who am I?",
        "What did I say my name was?",
    ],
    ["Your name is {x}.", "You told me that your name is {x}.", "You are {x}!"],
)
PET = (
    [
        "I have a {k} called {x}.",
        "My {k} is named {x}.",
        "I have a {k}. Its name is {x}.",
        "My {k}'s name is {x}.",
        "We have a {k} named {x}.",
    ],
    [
        "{x} is a lovely name for a {k}!",
        "How nice! I would love to hear more about {x}.",
        "{x} sounds like a wonderful {k}.",
    ],
    [
        "What is my {k}'s name?",
        "What is my {k} called?",
        "Do you remember the name of my {k}?",
        "What's the name of my {k}?",
        "What is my pet called?",
    ],
    ["Your {k} is called {x}.", "Your {k}'s name is {x}."],
)
RELATIVE = (
    ["My {k} is called {x}.", "My {k}'s name is {x}.", "I have a {k} named {x}."],
    ["{x} is a nice name. What is your {k} like?", "Say hello to {x} from me!", "How is {x} doing?"],
    ["What is my {k}'s name?", "What is my {k} called?", "Who is {x}?"],
    ["Your {k} is called {x}.", "{x} is your {k}."],
)
FAVORITE = (
    ["My favorite {k} is {x}.", "I think {x} is the best {k}.", "The {k} I like best is {x}."],
    ["{X} is a great choice!", "Nice! What do you like about {x}?", "I see why you like {x}."],
    ["What is my favorite {k}?", "Which {k} do I like best?", "Do you remember my favorite {k}?"],
    ["Your favorite {k} is {x}.", "You told me that your favorite {k} is {x}."],
)
HOME = (
    ["I live in {x}.", "I am from {x}.", "I come from {x}."],
    ["{x} is an interesting place! What do you like about it?", "Oh, {x}! How is the weather there?"],
    ["Where do I live?", "Where am I from?", "Which city am I from?"],
    ["You are from {x}.", "You told me that you are from {x}."],
)
JOB = (
    ["I am {x}.", "I work as {x}.", "I'm {x}."],
    ["That is a good job! What do you like most about it?", "Being {x} must be interesting."],
    ["What is my job?", "What do I do for work?", "What's my job?"],
    ["You are {x}.", "You told me that you are {x}."],
)
AGE = (
    ["I am {x} years old.", "I'm {x} years old.", "I turned {x} this year."],
    ["{x} is a great age!", "Nice! What do you like to do?"],
    ["How old am I?", "What is my age?", "Do you remember how old I am?"],
    ["You are {x} years old."],
)
CARRY = (
    ["I have {x} in my bag.", "I put {x} in the box.", "I found {x} today.", "I just bought {x}."],
    ["How interesting! Where did you get it?", "Oh, {x}! What will you do with it?"],
    ["What do I have?", "What did I tell you about?", "What was the thing that I have?"],
    ["You have {x}.", "You told me about {x}."],
)
WORDS = (
    "apple river green cloud happy table seven window dragon music yellow tiger bread ocean silver garden paper moon "
    "rocket winter coffee purple mountain spoon lemon forest button island honey pencil candle monkey"
).split()


def fact(rng: Random) -> tuple[list[str], list[str], list[str], list[str], dict]:
    kind = rng.choices(range(8), [34, 18, 9, 15, 6, 5, 4, 9])[0]
    if kind == 0:
        return *NAME, {"x": person_name(rng)}
    if kind == 1:
        return *PET, {"k": rng.choice(PETS), "x": pet_name(rng)}
    if kind == 2:
        return *RELATIVE, {
            "k": rng.choice("sister brother mother father friend son daughter cousin aunt".split()),
            "x": person_name(rng),
        }
    if kind == 3:
        noun, pool = rng.choice(
            [
                ("color", COLORS),
                ("food", FOODS),
                ("hobby", HOBBIES),
                ("city", CITIES),
                ("number", list(map(str, range(1, 100)))),
                ("animal", PETS),
            ]
        )
        x = rng.choice(pool)
        return *FAVORITE, {"k": noun, "x": x, "X": capital(x)}
    if kind == 4:
        return *HOME, {"x": rng.choice(CITIES)}
    if kind == 5:
        return *JOB, {"x": a(rng.choice(JOBS))}
    if kind == 6:
        return *AGE, {"x": rng.randint(5, 90)}
    return *CARRY, {"x": rng.choice(THINGS)}


def tell_and_ask(rng: Random) -> list[str]:
    """One or two facts, perhaps something else in between, then a question about one of them."""
    facts = [fact(rng)]
    if rng.random() < 0.4:
        second = fact(rng)
        if second[0] is not facts[0][0]:
            facts.append(second)
    turns = []
    for told, reply, _, _, values in facts:
        said = rng.choice(told).format(**values)
        turns += [said.lower() if rng.random() < 0.12 else said, rng.choice(reply).format(**values)]
    if rng.random() < 0.35:
        turns += filler(rng)
    rng.shuffle(facts)
    for _, _, ask, answer, values in facts[: rng.choice([1, 1, 2])]:
        question = rng.choice(ask)
        reply = rng.choice(answer) if "{x}" not in question else answer[-1]
        turns += [noise(question.format(**values), rng), reply.format(**values)]
    return turns


def ask_too_early(rng: Random) -> list[str]:
    """Nothing was told: the answer is that it is not known, and then it is."""
    _, _, ask, _, values = NAME + ({"x": person_name(rng)},)
    turns = [
        noise(rng.choice(ask), rng),
        rng.choice(["You have not told me your name yet. What is it?", "I don't know your name yet. What is it?"]),
    ]
    if rng.random() < 0.7:
        turns += [values["x"] if rng.random() < 0.5 else f"It is {values['x']}.", f"Nice to meet you, {values['x']}!"]
        turns += [noise(rng.choice(ask), rng), f"Your name is {values['x']}."]
    return turns


def repeat(rng: Random) -> list[str]:
    words = [rng.choice(WORDS + [person_name(rng)]) for _ in range(rng.choice([1, 1, 2, 3, 3, 4]))]
    text = " ".join(words)
    if rng.random() < 0.3:
        text = rng.choice(["I like {}", "the {} is here", "my {} is big", "we love {}"]).format(text)
    ask = rng.choice(
        [
            "Repeat after me: {}",
            "Say {}",
            "Please say: {}",
            "Repeat: {}",
            'Can you say "{}"?',
            "Repeat this: {}",
            "Say the word {}" if len(words) == 1 else "Say the words {}",
        ]
    )
    return [ask.format(text), text if rng.random() < 0.7 else capital(text) + "."]


def remember_words(rng: Random) -> list[str]:
    words = rng.sample(WORDS, rng.choice([1, 1, 2, 3]))
    text = ", ".join(words)
    plural = "word is" if len(words) == 1 else "words are"
    turns = [
        rng.choice(["Remember this: {}.", "Please remember: {}.", "The secret {p} {}."]).format(text, p=plural),
        rng.choice(["Okay, I will remember: {}.", "Got it: {}."]).format(text),
    ]
    if rng.random() < 0.5:
        turns += filler(rng)
    return turns + [
        noise(
            rng.choice(
                [
                    "What should you remember?",
                    "What did I ask you to remember?",
                    "What was the secret word?" if len(words) == 1 else "What were the words?",
                ]
            ),
            rng,
        ),
        f"You told me: {text}.",
    ]


def what_did_i_say(rng: Random) -> list[str]:
    told, reply, _, _, values = fact(rng)
    said = rng.choice(told).format(**values)
    turns = [said, rng.choice(reply).format(**values)]
    if rng.random() < 0.4:
        return (
            filler(rng)
            + turns
            + [
                noise(rng.choice(["What did I just say?", "What did I say?", "Repeat what I said."]), rng),
                f'You said: "{said}"',
            ]
        )
    return (
        turns
        + filler(rng)
        + [
            noise(
                rng.choice(
                    ["What did I say before that?", "What did I tell you first?", "What was the first thing I said?"]
                ),
                rng,
            ),
            f'You said: "{said}"',
        ]
    )


def generate(rng: Random) -> list[str]:
    return rng.choices([tell_and_ask, ask_too_early, repeat, remember_words, what_did_i_say], [70, 5, 12, 7, 6])[0](rng)

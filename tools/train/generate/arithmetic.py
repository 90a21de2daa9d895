"""Sums, differences, products, counting and comparing. Operands of one and two digits, all of them."""

from random import Random

from .words import noise, number_word

WORDINGS = [
    "What is {a} {w} {b}?",
    "What is {a} {w} {b}?",
    "What is {a} {s} {b}?",
    "{a} {w} {b}",
    "{a} {s} {b}",
    "{a}{s}{b}",
    "{a} {s} {b} = ?",
    "{a}{s}{b}=",
    "How much is {a} {w} {b}?",
    "Calculate {a} {s} {b}.",
    "what's {a} {s} {b}",
    "Can you tell me what {a} {w} {b} is?",
    "Solve {a} {s} {b}",
    "What do you get for {a} {w} {b}?",
    "Compute {a} {w} {b}.",
]
SUM_WORDINGS = ["Add {a} and {b}.", "What is the sum of {a} and {b}?", "What do {a} and {b} make together?"]
SUM_TALES = [
    "I have {a} {x} and get {b} more. How many do I have?",
    "There are {a} {x} on the table and {b} on the floor. How many are there?",
]
DIFFERENCE_WORDINGS = [
    "Subtract {b} from {a}.",
    "What is the difference between {a} and {b}?",
    "Take {b} away from {a}.",
]
DIFFERENCE_TALES = [
    "I have {a} {x} and give away {b}. How many are left?",
    "There were {a} {x}, but {b} are gone. How many are left?",
]
THINGS = "apples books coins cards cookies eggs flowers stones pens balls oranges stars".split()
SYMBOL = {"plus": ["+"], "minus": ["-"], "times": ["*", "x"], "divided by": ["/"]}


def operands(word: str, rng: Random) -> tuple[int, int, int]:
    """(a, b, result). Small ones more often: people ask for them, and they are the steps of the larger ones."""
    top = 20 if rng.random() < 0.65 else 99
    if word == "plus":
        a, b = rng.randint(0, top), rng.randint(0, top if rng.random() < 0.7 else 9)
        return a, b, a + b
    if word == "minus":
        b, a = sorted((rng.randint(0, top), rng.randint(0, top)))
        return a, b, a - b
    a, b = rng.randint(0, 12), rng.randint(0, 12)
    if word == "times":
        return a, b, a * b
    return a * max(b, 1), max(b, 1), a


def exercise(rng: Random) -> list[str]:
    word = rng.choices(["plus", "minus", "times", "divided by"], [50, 30, 15, 5])[0]
    a, b, result = operands(word, rng)
    chance = rng.random()
    if word in ("plus", "minus") and chance < 0.10:
        tale = rng.choice(SUM_TALES if word == "plus" else DIFFERENCE_TALES)
        things = rng.choice(THINGS)
        end = "." if word == "plus" else " left."
        reply = (
            f"{a} {word} {b} is {result}, so you have {result} {things}{end}"
            if tale[0] == "I"
            else f"{a} {word} {b} is {result}. There are {result} {things}{end}"
        )
        return [noise(tale.format(a=a, b=b, x=things), rng), reply]
    if word in ("plus", "minus") and chance < 0.22:
        wording = rng.choice(SUM_WORDINGS if word == "plus" else DIFFERENCE_WORDINGS)
    else:
        wording = rng.choice(WORDINGS)
    spoken = max(a, b) < 100 and rng.random() < 0.08
    names = (number_word(a), number_word(b)) if spoken else (a, b)
    question = noise(wording.format(a=names[0], b=names[1], w=word, s=rng.choice(SYMBOL[word])), rng)
    if rng.random() < 0.08:
        return [
            question.rstrip(".?! ")
            + rng.choice([" Just the number.", ". Only the number please.", "? Answer with a number."]),
            f"{result}",
        ]
    return [
        question,
        rng.choice(["{a} {w} {b} is {r}."] * 4 + ["{a} {w} {b} equals {r}.", "The answer is {r}."]).format(
            a=a, b=b, w=word, r=result
        ),
    ]


def follow_up(rng: Random) -> list[str]:
    """A first sum, then "and plus 3?", which needs the result of the first."""
    a, b, result = operands("plus", rng)
    more = rng.randint(1, 9)
    return [
        noise(f"What is {a} plus {b}?", rng),
        f"{a} plus {b} is {result}.",
        noise(rng.choice(["And plus {m}?", "Now add {m}.", "plus {m}?"]).format(m=more), rng),
        f"{result} plus {more} is {result + more}.",
    ]


def numbers(rng: Random) -> list[str]:
    kind = rng.randrange(4)
    n, m = rng.sample(range(1, 100), 2)
    if kind == 0:
        top = rng.randint(3, 20)
        return [
            noise(rng.choice(["Count to {n}", "Can you count to {n}?", "Count from 1 to {n}."]).format(n=top), rng),
            ", ".join(map(str, range(1, top + 1))) + ".",
        ]
    if kind == 1:
        return [
            noise(
                rng.choice(["Which is bigger, {n} or {m}?", "Which number is larger: {n} or {m}?"]).format(n=n, m=m),
                rng,
            ),
            f"{max(n, m)} is bigger than {min(n, m)}.",
        ]
    if kind == 2:
        return [
            noise(rng.choice(["What comes after {n}?", "Which number comes after {n}?"]).format(n=n), rng),
            f"{n + 1} comes after {n}.",
        ]
    return [
        noise(f"Is {n} an {rng.choice(['even', 'odd'])} number?", rng),
        f"{n} is an {'odd' if n % 2 else 'even'} number.",
    ]


def generate(rng: Random) -> list[str]:
    return rng.choices([exercise, follow_up, numbers], [88, 5, 7])[0](rng)

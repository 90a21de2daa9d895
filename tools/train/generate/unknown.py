"""Saying "I don't know" with grace: people and numbers that cannot be known, things that change, things too hard."""

from random import Random

from .words import NAMES, capital, invented_name, noise

HARD = (
    "the stock market,quantum physics,string theory,the French Revolution,tax law,the Krebs cycle,differential equations,"
    "blockchain,machine learning,the Ottoman Empire,nuclear fusion,organic chemistry,the human genome,inflation,a car engine,"
    "a jet engine,the immune system,Kant's philosophy,microbiology,cryptography,the Byzantine Empire,neural networks,"
    "thermodynamics,copyright law,insurance,plate tectonics,a nuclear reactor,game theory,the Roman Senate,general relativity"
).split(",")
SURNAMES = "Smith Jones Brown Miller Davis Wilson Moore Taylor Harris Martin Garcia Clark Lewis Walker Young Hill Novak Rossi Weber Silva".split()
TOO_HARD = [
    "I'm sorry, I don't know much about that. I am a very small model.",
    "That is too hard for me, sorry. I can help with simple questions, stories and small talk.",
    "I don't know. You could look it up in a book or online.",
    "I don't know enough about {h} to explain it well, sorry. Is there something else I can help you with?",
]
PERSON = [
    "I don't know who {h} is, sorry.",
    "I don't know {h}. Can you tell me more?",
    "I'm not sure who {h} is. I am a small model, so there are many people I don't know.",
]
LIVE = [
    "I can't check that, because I don't have a clock or the internet.",
    "I'm sorry, I can't look that up. I only know what I learned when I was trained.",
    "I don't know, because I can't see live information.",
]
PRIVATE = [
    "I can't know that. You would have to tell me!",
    "I don't know that about you. Will you tell me?",
    "You have not told me that yet.",
]
LIVE_ASK = (
    "What time is it?|What is the date today?|What day is it?|Will it rain tomorrow?|How is the weather in Paris?|Who won the game yesterday?|"
    "What is in the news today?|How much is a dollar in euros?|Who is the president now?|What is the temperature outside?|"
    "What is on television tonight?|Is the shop open now?|When does the next train leave?|How is the traffic?"
).split("|")
PRIVATE_ASK = (
    "What did I eat today?|Where are my keys?|What is my phone number?|What is in my pocket?|What am I thinking?|What color is my shirt?|"
    "Where did I go yesterday?|What is my sister's name?|How old is my dog?|What is my favorite movie?|What did I dream last night?|"
    "Guess what I did today|Who is my best friend?"
).split("|")
NUMBERS = [
    "I don't know that number, sorry.",
    "I am not sure. That is better looked up.",
    "I'm sorry, that is too hard for me.",
]


def generate(rng: Random) -> list[str]:
    kind = rng.randrange(5)
    if kind == 0:
        h = rng.choice(HARD)
        question = rng.choice(
            [
                "Explain {h}.",
                "How does {h} work?",
                "Explain {h} in detail.",
                "Tell me everything about {h}.",
                "Write an essay about {h}.",
                "What is the history of {h}?",
            ]
        )
        return [noise(question.format(h=h), rng), rng.choice(TOO_HARD).format(h=h)]
    if kind == 1:
        h = f"{rng.choice([rng.choice(NAMES), invented_name(rng)])} {rng.choice([*SURNAMES, invented_name(rng)])}"
        question = rng.choice(
            ["Who is {h}?", "Do you know {h}?", "What did {h} do?", "Tell me about {h}.", "When was {h} born?"]
        )
        return [question.format(h=h), rng.choice(PERSON).format(h=h)]
    if kind == 2:
        return [noise(rng.choice(LIVE_ASK), rng), rng.choice(LIVE)]
    if kind == 3:
        return [noise(rng.choice(PRIVATE_ASK), rng), rng.choice(PRIVATE)]
    question = rng.choice(
        [
            "How many people live in {p}?",
            "What is {n} times {m}?",
            "What happened in {y}?",
            "What is the square root of {n}?",
            "How tall is the tallest house in {p}?",
            "Who won the world cup in {y}?",
        ]
    )
    return [
        noise(
            question.format(
                p=capital(rng.choice(["France", "Boston", "Kenya", "Lima", "Oslo", "India"])),
                n=rng.randint(200, 9999),
                m=rng.randint(200, 9999),
                y=rng.randint(1850, 2023),
            ),
            rng,
        ),
        rng.choice(NUMBERS),
    ]

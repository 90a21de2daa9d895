"""Short stories that keep to what was asked for: the hero, and where named also the friend, the thing, the place, the wish."""

from random import Random

from . import cards
from .small_talk import THANKS
from .words import THINGS, a, capital, noise

PLOTS = cards.plots()
ANIMALS = (
    "dog cat rabbit bear fox mouse bird frog turtle lion elephant owl duck pig squirrel penguin dragon robot monkey horse bee "
    "butterfly whale kitten puppy octopus hedgehog wolf deer giraffe zebra kangaroo koala panda parrot eagle crab snail ant "
    "spider dolphin shark seal camel goat sheep cow chicken hamster otter beaver badger mole swan dinosaur unicorn snake "
    "crocodile hippo tiger firefly worm ghost monster snowman cloud star teapot tree pumpkin"
).split()
PEOPLE = (
    "boy girl king queen princess prince knight wizard witch farmer sailor pirate baker teacher painter astronaut doctor "
    "firefighter gardener giant inventor musician shepherd clown"
).split()
FEMALE = {"girl", "queen", "princess", "witch"}
MALE = {"boy", "king", "prince", "knight", "wizard", "pirate"}
FRIENDS = [animal for animal in ANIMALS[:60] if animal not in ("dragon", "robot", "shark", "whale")]
ADJECTIVES = "little brave kind small curious shy happy clever lonely sleepy funny gentle young lazy purple hungry old tiny".split()
NAMES = (
    "Max Lily Tim Luna Sam Bella Milo Daisy Toby Ruby Leo Poppy Finn Rosie Oscar Mia Benny Coco Pip Nora Hazel Otto Ivy Theo "
    "Wren Basil Olive Jasper Mabel Hugo Tess Bruno Fern Gus Dot Rufus"
).split()
PLACES = (
    "in a quiet forest,near a big blue lake,in a small village,on a farm,by the sea,in a sunny garden,on the moon,in a castle,"
    "at the edge of a tall mountain,in a busy town,on a little island,in a green valley,under an old bridge,in a desert,"
    "in a lighthouse,on a ship,in a hollow tree,at the north pole,behind a waterfall,in a toy shop"
).split(",")
GOALS = (
    "find a friend,see the ocean,learn to swim,fly high in the sky,find the biggest flower in the world,bake the best cake,"
    "sing a beautiful song,find a lost treasure,climb the tall mountain,make everyone laugh,paint a picture of the moon,"
    "reach the stars,win a race,learn to read,play the violin,see the snow,build a boat,travel around the world"
).split(",")
OPENINGS = [
    "Once upon a time, there was {x} {w} named {n}. {n} lived {place}.",
    "Once there was {x} {w} called {n} who lived {place}.",
    "{n} was {x} {w}. {S} lived {place}.",
    "Long ago, {x} {w} named {n} lived {place}.",
]
ENDINGS = ["", "", " The end.", " And they lived happily ever after."]
ASK = [
    "Tell me a story about {x}.",
    "Write a short story about {x}.",
    "Can you tell me a story about {x}?",
    "Write a story about {x}",
    "I want to hear a story about {x}.",
    "Make up a story about {x}.",
    "story about {x}",
    "Tell me a bedtime story about {x}.",
    "Please tell me about {x} in a story.",
    "Do you know a story about {x}?",
]
ASK_ANY = [
    "Tell me a story.",
    "Can you tell me a story?",
    "Write a short story.",
    "I want a story",
    "Tell me a bedtime story.",
    "Make up a story",
    "Tell me another story",
]
AGAIN = ["Another one", "Tell me another story", "One more please", "Can I have one more story?"]


def pronouns(kind: str, rng: Random) -> tuple[str, str, str]:
    she = kind in FEMALE or (kind not in MALE and rng.random() < 0.5)
    return ("she", "her", "her") if she else ("he", "him", "his")


def asked_for(kind: str, plot: str, values: dict, rng: Random) -> str:
    """What the user names: always the hero; sometimes more of what the story will have."""
    adjective, hero = values["x"].split(" ", 1)[1], a(kind)
    options = [hero] * 5 + [
        a(f"{adjective} {kind}"),
        f"{hero} named {values['n']}",
        f"{hero} who lives {values['place']}",
    ]
    if "{f}" in plot or "{af}" in plot:
        options += [f"{hero} and {values['af']}"] * 2
    if "{ob}" in plot:
        options += [f"{hero} and {values['ob']}"] * 2
    if "{g}" in plot:
        options += [f"{hero} who wants to {values['g']}"] * 2
    if rng.random() < 0.06:
        return kind + "s"
    return rng.choice(options)


def story(rng: Random) -> tuple[str, str]:
    kind = rng.choice(ANIMALS) if rng.random() < 0.72 else rng.choice(PEOPLE)
    plot = rng.choice(PLOTS)
    friend = rng.choice([f for f in FRIENDS if f != kind])
    name, friend_name = rng.sample(NAMES, 2)
    thing = rng.choice(THINGS)
    s, o, p = pronouns(kind, rng)
    values = {
        "w": kind,
        "n": name,
        "fn": friend_name,
        "f": friend,
        "af": a(friend),
        "ob": thing,
        "obs": thing.split(" ", 1)[1],
        "g": rng.choice(GOALS),
        "place": rng.choice(PLACES),
        "x": a(rng.choice(ADJECTIVES)),
        "s": s,
        "o": o,
        "p": p,
        "S": capital(s),
        "P": capital(p),
    }
    text = (rng.choice(OPENINGS) + " " + plot).format(**values) + rng.choice(ENDINGS)
    return asked_for(kind, plot, values, rng), text


def generate(rng: Random) -> list[str]:
    asked, text = story(rng)
    question = rng.choice(ASK).format(x=asked) if rng.random() < 0.85 else rng.choice(ASK_ANY)
    turns = [noise(question, rng), text]
    chance = rng.random()
    if chance < 0.10:
        turns += [
            noise(rng.choice(THANKS[0] + ["That was nice", "I like that story", "Great story!"]), rng),
            rng.choice(["I'm glad you liked it!", "You're welcome! Would you like another story?"]),
        ]
    elif chance < 0.16:
        name = text.split(" named ")[-1].split(" called ")[-1].split(" ")[0].strip('.,"')
        if text.count(" named ") + text.count(" called ") == 1 and name.isalpha():
            turns += (
                [
                    noise(rng.choice(["What was the name in the story?", "Who was the story about?"]), rng),
                    f"The story was about {name}.",
                ]
                if " named " + name in text[:90] or " called " + name in text[:90]
                else []
            )
    elif chance < 0.20:
        turns += [noise(rng.choice(AGAIN), rng), story(rng)[1]]
    return turns

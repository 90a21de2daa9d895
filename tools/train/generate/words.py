"""Pools of names and things, and the small changes that make one question many: case, typos, missing marks."""

from random import Random

# evaluate.py asks for these; copying.py may not use them, so that recalling them is copying and not memory.
HELD_OUT_NAMES = (
    "Julia Marcus Priya Kevin Hana Walter Nadia Felix Bruno Clara Astrid Tom Lucy Omar Grace Ivan Zoe Henry Sofia Ali"
).split()
HELD_OUT_PETS = "Rex Whiskers Bella Shadow Bandit".split()

NAMES = (
    "Anna Ben Tim Lily Sam Max Mia Emma Noah Jack Leo Ella Maria David Sara Peter Paul Kate Amy John Mary Alex Nina Ravi "
    "Yuki Chen Fatima Carlos Olga Ruby Oscar Alice Bob Eve Daniel Hannah Laura Mark Simon Eric Diana Adam Aisha Amara "
    "Andre Angela Arjun Arthur Ava Bianca Boris Camila Cecilia Charlie Chloe Chris Claire Dora Edgar Edith Elena Eli Emil "
    "Esther Ethan Fiona Flora Frank Fred Gabriel George Gina Gloria Greta Gustav Hank Harper Hector Helen Hugo Ian Ida "
    "Igor Ines Irene Isaac Isla Ivy Jacob Jade James Jane Jasmine Jason Joan Joe Jonas Jorge Josh Joy Karen Karl Keiko "
    "Kenji Kim Kira Lars Lena Liam Linda Lola Louis Lucas Luis Maya Megan Mei Miguel Mila Molly Mona Nathan Nico Nora "
    "Olivia Otto Owen Pablo Patrick Pedro Petra Philip Quinn Rachel Ralph Rita Robert Robin Rosa Roy Ryan Sally Samira "
    "Scott Sean Selma Sergio Sonia Stella Steve Susan Tara Theo Tina Tony Uma Vera Victor Vincent Wendy Will Xavier Yara "
    "Yusuf Zara"
).split()
PET_NAMES = (
    "Luna Coco Milo Daisy Rocky Ginger Snowy Pepper Nemo Lucky Biscuit Oreo Simba Tiger Ziggy Buddy Charlie Cookie "
    "Dusty Fluffy Freckles Honey Jasper Kiwi Loki Maple Mocha Muffin Nala Olive Otis Patch Peanut Pickle Pip Poppy "
    "Pumpkin Rusty Scout Smokey Sparky Spot Sunny Teddy Toffee Waffles Winnie Zorro"
).split()
PETS = "dog cat rabbit hamster parrot fish horse turtle goat pony mouse duck lizard".split()
COLORS = "red blue green yellow purple orange pink black white brown grey gold silver turquoise".split()
CITIES = (
    "London,Paris,Berlin,Rome,Madrid,Tokyo,Toronto,Sydney,Chicago,Boston,Dublin,Vienna,Oslo,Cairo,Delhi,Lagos,Nairobi,"
    "Lima,Seoul,New York,Lisbon,Prague,Warsaw,Athens,Helsinki,Denver,Seattle,Montreal,Bogota,Hanoi,Manila,Milan,Munich"
).split(",")
FOODS = (
    "pizza,pasta,rice,soup,salad,sushi,tacos,curry,pancakes,ice cream,chocolate,apples,bread,cheese,noodles,burgers,"
    "sandwiches,strawberries,potatoes,dumplings,waffles,cake,mangoes,fish and chips,lasagna,popcorn,falafel,cookies"
).split(",")
HOBBIES = (
    "reading swimming football painting cooking chess running dancing music gardening hiking photography cycling drawing "
    "singing fishing knitting basketball tennis skating baking yoga pottery climbing sailing"
).split()
JOBS = (
    "teacher doctor nurse student farmer chef driver artist writer engineer singer baker builder pilot scientist lawyer "
    "gardener waiter dentist plumber painter actor librarian mechanic"
).split()
THINGS = (
    "a red ball,an old map,a golden key,a tiny seed,a broken kite,a blue stone,a lost hat,a strange box,a silver bell,"
    "a lantern,a magic book,a wooden flute,a paper boat,a glass bottle,a rusty spoon,a pair of shoes,a music box,"
    "a feather,a crown,a compass,a pocket watch,a green umbrella,a snow globe,a violin,a teapot,a mirror,a candle,"
    "a ring,a drum,a letter"
).split(",")
NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def number_word(number: int) -> str:
    """0 to 99 in words."""
    if number <= 20:
        return NUMBER_WORDS[number]
    return TENS[number // 10] + (f"-{NUMBER_WORDS[number % 10]}" if number % 10 else "")


def a(noun: str) -> str:
    return ("an " if noun[0].lower() in "aeiou" and not noun.startswith("uni") else "a ") + noun


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def invented_name(rng: Random) -> str:
    """Two or three syllables: a name that can only be recalled by copying it."""
    syllables = rng.choice([2, 2, 3])
    name = "".join(
        rng.choice("bdfgjklmnprstvz") + rng.choice(["a", "e", "i", "o", "u", "ai", "or", "an", "el"])
        for _ in range(syllables)
    )
    return capital(name + rng.choice(["", "", "n", "s", "r"]))


def person_name(rng: Random) -> str:
    return invented_name(rng) if rng.random() < 0.35 else rng.choice(NAMES)


def pet_name(rng: Random) -> str:
    return invented_name(rng) if rng.random() < 0.35 else rng.choice(PET_NAMES + NAMES[:60])


def noise(question: str, rng: Random) -> str:
    """The same question as people type it. Never touches a text's words except for one swap of letters in 40."""
    chance = rng.random()
    if chance < 0.20:
        question = question.lower()
    elif chance < 0.22 and len(question) < 30:
        question = question.upper()
    if rng.random() < 0.22:
        question = question.rstrip(".?!")
    if rng.random() < 0.03:
        question += rng.choice(["!", "...", " please", " :)", " pls"])
    if rng.random() < 0.04:
        question = rng.choice(["Hey, ", "Hi, ", "ok ", "Okay, ", "So, ", "Um, "]) + question
    if rng.random() < 0.025 and len(question) > 8:
        i = rng.randrange(1, len(question) - 2)
        question = question[:i] + question[i + 1] + question[i] + question[i + 2 :]
    return question

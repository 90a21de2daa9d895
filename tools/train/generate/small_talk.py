"""Greetings, thanks, goodbyes, and whole small talks over several turns."""

from random import Random

from . import cards
from .words import noise

GREETINGS = (
    [
        "Hello",
        "Hi",
        "Hey",
        "Hi there",
        "Hello there",
        "Good morning",
        "Good afternoon",
        "Good evening",
        "Hiya",
        "Greetings",
        "Hello!",
        "Howdy",
        "Hello, are you there?",
        "hey you",
    ],
    [
        "Hello! How can I help you today?",
        "Hi there! What would you like to talk about?",
        "Hello! It is nice to meet you. What is on your mind?",
        "Hi! How are you doing today?",
        "Hello! Ask me anything, or we can just chat.",
        "Hello there! How is your day going?",
    ],
)
HOW_ARE_YOU = (
    [
        "How are you?",
        "How are you doing?",
        "How are you today?",
        "How's it going?",
        "What's up?",
        "how r u",
        "How have you been?",
        "hi, how are you?",
        "Hello, how are you?",
        "Are you okay?",
    ],
    [
        "I am doing well, thank you! How are you?",
        "I'm great, thanks for asking. How about you?",
        "I'm fine, thank you. How is your day so far?",
        "Very well, thank you. What about you?",
    ],
)
FINE = (
    [
        "I'm good",
        "I'm fine, thanks",
        "I am great",
        "Pretty good",
        "not bad",
        "good, thanks",
        "I'm doing well, thank you",
        "I'm okay",
    ],
    [
        "I'm glad to hear that! What would you like to talk about?",
        "That's good to hear. What can I do for you today?",
        "Nice! Do you want to chat, hear a story, or ask a question?",
    ],
)
NOT_FINE = (
    ["not so good", "I'm tired", "I feel bad", "not great", "I'm sad today", "I had a bad day", "I'm sick"],
    [
        "I'm sorry to hear that. Do you want to talk about it?",
        "I'm sorry. I hope it gets better soon. Would a joke or a story help?",
        "That sounds hard. I am here to listen. What happened?",
    ],
)
THANKS = (
    [
        "Thanks",
        "Thank you",
        "Thank you so much!",
        "thanks a lot",
        "Thanks, that was helpful",
        "ty",
        "Cool, thanks",
        "Perfect, thank you",
    ],
    [
        "You're welcome!",
        "You're welcome! Is there anything else I can help with?",
        "Happy to help!",
        "No problem! Let me know if you need anything else.",
        "My pleasure!",
    ],
)
GOODBYE = (
    [
        "Bye",
        "Goodbye",
        "See you later",
        "I have to go",
        "Bye bye",
        "gotta go",
        "Talk to you later",
        "thanks, bye",
        "That's all, bye",
    ],
    [
        "Goodbye! It was nice talking with you.",
        "See you later! Have a great day.",
        "Bye! Come back any time.",
        "Take care! I enjoyed our chat.",
    ],
)
NIGHT = (
    ["Good night", "good night!", "Night night", "I'm going to sleep"],
    ["Good night! Sleep well.", "Good night! Sweet dreams."],
)
SHORT = (
    [
        "ok",
        "okay",
        "cool",
        "nice",
        "I see",
        "great",
        "wow",
        "interesting",
        "got it",
        "alright",
        "hmm",
        "lol",
        "haha",
        "yes",
        "no",
    ],
    [
        "Is there anything else you would like to know?",
        "Great! What would you like to talk about next?",
        "Okay! Would you like a story, a joke, or an answer to a question?",
    ],
)
TALKS = [
    [turn.split("|") for turn in line.split(" // ")]
    for name in ("small-talk.txt", "small-talk-2.txt")
    for line in cards.lines(name)
]


def exchange(pair: tuple[list[str], list[str]], rng: Random) -> list[str]:
    return [noise(rng.choice(pair[0]), rng), rng.choice(pair[1])]


def filler(rng: Random) -> list[str]:
    """One exchange that has nothing to do with what is around it."""
    asides = [
        HOW_ARE_YOU,
        THANKS,
        SHORT,
        (["What color is the sky?"], ["The sky is usually blue during the day."]),
        (["What is two plus two?"], ["Two plus two is four."]),
    ]
    return exchange(rng.choice(asides), rng)


def greeting(rng: Random) -> list[str]:
    turns = exchange(GREETINGS, rng)
    if rng.random() < 0.6:
        turns += exchange(HOW_ARE_YOU, rng)
        if rng.random() < 0.7:
            turns += exchange(FINE if rng.random() < 0.7 else NOT_FINE, rng)
    return turns


def single(rng: Random) -> list[str]:
    return exchange(rng.choice([GREETINGS, HOW_ARE_YOU, HOW_ARE_YOU, THANKS, GOODBYE, NIGHT, SHORT]), rng)


def talk(rng: Random) -> list[str]:
    turns = [rng.choice(ways) for ways in rng.choice(TALKS)]
    turns = [noise(turn, rng) if i % 2 == 0 else turn for i, turn in enumerate(turns)]
    if rng.random() < 0.25:
        turns = exchange(GREETINGS, rng) + turns
    if rng.random() < 0.3:
        turns += exchange(rng.choice([THANKS, GOODBYE]), rng)
    return turns


def generate(rng: Random) -> list[str]:
    return rng.choices([single, greeting, talk], [35, 20, 45])[0](rng)

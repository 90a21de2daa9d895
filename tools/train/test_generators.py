"""python3 -m unittest: what every generator promises about its conversations."""

import re
import unittest
from random import Random

from generate import arithmetic, asked_form, cards, copying, knowledge, poems, small_talk, stories, unknown
from generate.mixture import SHARES, conversations
from generate.words import HELD_OUT_NAMES, HELD_OUT_PETS, number_word

MANY = 2000
RESULT = re.compile(r"(\d+) (plus|minus|times|divided by) (\d+) (?:is|equals) (\d+)")
OPERATION = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "times": lambda a, b: a * b,
    "divided by": lambda a, b: a / b,
}


class Cards(unittest.TestCase):
    def test_there_are_many_and_no_two_topics_of_one_name(self):
        names = [card["name"].lower() for card in cards.topics()]
        self.assertGreaterEqual(len(names), 300)
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(set(cards.plots())), 40)

    def test_topic_cards_have_facts_that_end_and_a_question(self):
        for card in cards.topics():
            self.assertGreaterEqual(len(card["facts"]), 2, card["name"])
            self.assertTrue(card["question"].endswith("?"), card["question"])
            for text in (card["what"], card["opinion"], *card["facts"]):
                self.assertRegex(text, r"[.!]$")


class Every(unittest.TestCase):
    def test_turns_come_in_pairs_filled_in_and_short_enough(self):
        for kind, turns in conversations(MANY, seed=5):
            self.assertEqual(len(turns) % 2, 0, turns)
            for turn in turns:
                self.assertTrue(turn.strip(), (kind, turns))
                self.assertNotRegex(turn, r"[{}]")
                self.assertLess(len(turn), 900)

    def test_one_seed_gives_one_text_and_another_seed_another(self):
        first, again, other = (list(conversations(200, seed)) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_all_kinds_occur(self):
        self.assertEqual({kind for kind, _ in conversations(MANY, seed=5)}, set(SHARES))

    def test_names_held_out_for_the_evaluation_are_told_by_nobody(self):
        held_out = {*HELD_OUT_NAMES, *HELD_OUT_PETS}
        rng = Random(1)
        for _ in range(MANY):
            words = set(re.findall(r"\w+", " ".join(copying.generate(rng))))
            self.assertFalse(words & held_out)


class Kinds(unittest.TestCase):
    def setUp(self):
        self.rng = Random(1)

    def test_arithmetic_is_right_and_covers_the_operands(self):
        seen = set()
        for _ in range(20_000):
            for reply in arithmetic.generate(self.rng)[1::2]:
                for a, word, b, result in RESULT.findall(reply):
                    self.assertEqual(OPERATION[word](int(a), int(b)), int(result), reply)
                    seen.add((word, int(a), int(b)))
        self.assertTrue({("plus", a, b) for a in range(21) for b in range(10)} <= seen)
        self.assertEqual(number_word(47), "forty-seven")

    def test_copied_words_were_there_before(self):
        for _ in range(MANY):
            turns = copying.tell_and_ask(self.rng)
            before = " ".join(turns[:-1]).lower()
            value = re.search(r"(?:is|are|called|like|from|have|about) ?(\w+)[.!]$|^(\w+) is your", turns[-1])
            if value:
                self.assertIn((value[1] or value[2]).lower(), before, turns)

    def test_repeating_gives_the_words_back(self):
        for _ in range(MANY):
            ask, reply = copying.repeat(self.rng)
            self.assertIn(reply.rstrip(".").lower(), ask.lower())

    def test_stories_have_the_hero_that_was_asked_for(self):
        for _ in range(MANY):
            asked, text = stories.story(self.rng)
            words = re.findall(r"[a-z]+", asked)
            self.assertTrue(
                any(re.search(rf"\b{word.rstrip('s')}", text) for word in words if word not in ("a", "an", "and")),
                (asked, text),
            )

    def test_lists_are_as_long_as_asked(self):
        for _ in range(MANY):
            turns = asked_form.list_of(self.rng)
            wanted = re.search(r"\b([2-5]|two|three|four|five)\b", turns[0].lower())
            if wanted:  # not where a typo hit the number
                count = {"two": 2, "three": 3, "four": 4, "five": 5}.get(wanted[1]) or int(wanted[1])
                items = re.split(r", | and |\n", turns[1].split(": ")[-1])
                self.assertEqual(len(items), count, turns)

    def test_one_word_answers_are_one_word(self):
        for _ in range(MANY):
            self.assertEqual(len(asked_form.one_word(self.rng)[1].split()), 1)

    def test_poems_name_their_topic(self):
        for _ in range(MANY):
            _, poem = poems.generate(self.rng)
            self.assertEqual(len(poem.split("\n")) % 4, 0)
            self.assertTrue(any(topic in poem.lower() for topic in (t.lower() for t in poems.TOPICS)), poem)

    def test_not_knowing_is_said(self):
        for _ in range(MANY):
            self.assertRegex(unknown.generate(self.rng)[1], r"know|can't|not sure|sorry|not told")

    def test_capitals_are_those_of_the_table(self):
        table = [("France", "Paris", "Europe"), ("Japan", "Tokyo", "Asia")]
        for _ in range(200):
            turns = knowledge.capital_of(self.rng, table)
            self.assertRegex(" ".join(turns[1::2]), "Paris|Tokyo|France|Japan")

    def test_small_talk_goes_over_several_turns(self):
        self.assertGreaterEqual(max(len(small_talk.generate(self.rng)) for _ in range(MANY)), 6)


if __name__ == "__main__":
    unittest.main()

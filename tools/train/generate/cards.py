"""Reads the card files: the hand-written tables that the generators draw from. Lines that begin with # are comments."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "cards"


def lines(name: str) -> list[str]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def topics() -> list[dict]:
    """name | what it is | fact | ... | opinion | question back, from every topics-*.txt."""
    cards = []
    for path in sorted(FOLDER.glob("topics-*.txt")):
        for line in lines(path.name):
            name, what, *facts, opinion, question = line.split("|")
            cards.append({"name": name, "what": what, "facts": facts, "opinion": opinion, "question": question})
    return cards


def answers(name: str) -> list[tuple[list[str], list[str]]]:
    """question | question => answer | answer; a written \\n in an answer is a line break."""
    rows = []
    for line in lines(name):
        questions, replies = line.split(" => ")
        rows.append((questions.split("|"), [reply.replace("\\n", "\n") for reply in replies.split("|")]))
    return rows


def plots() -> list[str]:
    return [line.replace(" // ", "\n") for path in sorted(FOLDER.glob("plots-*.txt")) for line in lines(path.name)]


def named_lists() -> dict[str, list[str]]:
    return {plural: items.split(", ") for plural, items in (line.split(": ") for line in lines("lists.txt"))}

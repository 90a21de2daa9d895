import { useEffect, type RefObject } from "react";
import type { Difference } from "../../state/chat/differences.ts";
import type { Turn } from "../../state/chat/conversation.ts";
import { formatCount } from "../format.ts";
import { markText, ownersIn, rangeOf } from "./marked-text.ts";

interface AnswerDifferenceProps {
  difference: Difference;
  turn: Turn;
  answer: RefObject<HTMLElement | null>;
}

/** Marks the first word in which an answer differs from another pane's, and says so in words. */
export function AnswerDifference({ difference, turn, answer }: AnswerDifferenceProps) {
  const { other, numSame, words } = difference;
  const { answer: text } = turn;
  const isOver = turn.end !== null;
  // Marked when it is found, and when the answer is whole: a growing answer costs nothing more.
  useEffect(() => {
    return answer.current ? markDifference(answer.current, text, difference) : undefined;
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [answer, difference, isOver]);
  return (
    <span className="flex-[0_0_100%] wrap-anywhere text-warn">
      Differs from pane {other} at word {formatCount(numSame + 1)}: <Word text={words[0]} />, there{" "}
      <Word text={words[1]} />
    </span>
  );
}

function Word({ text }: { text: string }) {
  return text === "" ? <>the end</> : <bdi>“{text.slice(0, 24)}”</bdi>;
}

/** Returns the function that removes the mark. */
function markDifference(root: Element, text: string, { at, words: [word] }: Difference): (() => void) | undefined {
  const start = text.indexOf(word, at);
  const parts = [text.slice(0, start), word, text.slice(start + word.length)].map((part) => ({ text: part }));
  const owners = ownersIn(root, parts);
  const range = owners.includes(1) ? rangeOf(root, owners.indexOf(1), owners.lastIndexOf(1) + 1) : null;
  // A live range would lose its place when its text grows.
  return range ? markText(new StaticRange(range), "differs") : undefined;
}

import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import {
  tokenOfEachCharacter,
  type AnswerToken,
  type LikelyToken,
  type TurnTokens,
} from "../../state/chat/answer-tokens.ts";
import { findLikeliest } from "../../state/chat/likelihoods.ts";
import { noRoomNote } from "../../state/chat/note.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { stepWords } from "../batch/cell-facts.ts";
import { placeBeside } from "../components/PointerCard.tsx";
import { CursorArea } from "../components/CursorArea.tsx";
import { listen } from "../listen.ts";
import { formatShare, visibleToken } from "../token-text.ts";
import { markText, rangeOfToken, shadeTokens } from "./marked-text.ts";
import { characterAt } from "./seen-text.ts";
import { TokenCard } from "./TokenCard.tsx";

interface AnswerWordsProps {
  app: AppState;
  pane: Pane;
  turnId: number;
  /** The rendered answer. It is never changed: highlights mark and shade its words. */
  answer: RefObject<HTMLElement | null>;
  /** Whether the pane's answerer can continue from the middle of an answer. */
  canBranch: boolean;
}

const KEY_MOVES: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 };
/** A pointer that rests this long on a word shows its alternatives. */
const REST_MS = 150;

/**
 * Shades an answer's words by their likelihood, and shows the likelihood and the alternatives of the one under the pointer or
 * the keyboard cursor. A click on a word, or Enter, keeps the card, whose alternatives can be chosen.
 */
export function AnswerWords({ app, pane, turnId, answer, canBranch }: AnswerWordsProps) {
  /** Index of the answer's token under the pointer or cursor. */
  const [at, setAt] = useState<number | null>(null);
  const [isKept, setKept] = useState(false);
  /** Counts the times that alternatives came. */
  const [, setNews] = useState(0);
  const card = useRef<HTMLDivElement>(null);
  // The tokens are complete: only their alternatives come later.
  const [{ reasoning, answer: tokens }] = useState(() => pane.memory.tokens.of(turnId) ?? NO_TOKENS);
  const token = at === null ? null : pane.memory.tokens.tokenAt({ turnId, token: reasoning.length + at });

  useEffect(() => {
    return answer.current ? shadeTokens(answer.current, tokens) : undefined;
  }, [answer, tokens]);

  useEffect(() => {
    const root = answer.current;
    if (!root || isKept) return;
    const tokenUnder = ({ clientX, clientY }: MouseEvent) => {
      const character = characterAt(root, clientX, clientY);
      return character === null ? null : (ownersOf(root, tokens)[character] ?? null);
    };
    const point = (event: PointerEvent) => event.pointerType !== "touch" && setAt(tokenUnder(event));
    const leave = (event: PointerEvent) => event.pointerType !== "touch" && setAt(null);
    const keep = (event: MouseEvent) => {
      const isLink = event.target instanceof Element && event.target.closest("a, button, summary");
      const under = isLink || !getSelection()?.isCollapsed ? null : tokenUnder(event);
      setAt(under);
      setKept(under !== null);
    };
    return listen(root, { pointermove: point, pointerleave: leave, click: keep });
  }, [answer, tokens, isKept]);

  useEffect(() => {
    if (at === null) return;
    const timer = setTimeout(
      () =>
        void findLikeliest(pane, turnId, at).then(
          () => setNews((count) => count + 1),
          // It is only additional: without an answer the card stays without alternatives.
          () => undefined,
        ),
      REST_MS,
    );
    return () => clearTimeout(timer);
  }, [pane, turnId, at]);

  useEffect(() => {
    const [root, box] = [answer.current, card.current];
    if (at === null || !root || !box) return;
    const range = rangeOfToken(root, tokens, at);
    if (!range) return;
    const unmark = markText(range);
    // A popover is above everything and takes part in no layout. A kept one closes by itself at a click elsewhere.
    box.popover = isKept ? "auto" : "manual";
    box.showPopover();
    return () => {
      unmark();
      box.hidePopover();
    };
  }, [answer, tokens, at, isKept]);
  // Also if they come after the card was kept.
  const canChoose = isKept && canBranch && token !== null && token.likeliest.length > 0;
  useEffect(() => {
    if (canChoose) card.current?.querySelector("button")?.focus();
  }, [canChoose, at]);
  // Again with each render: alternatives that come later make it higher.
  useEffect(() => {
    const [root, box] = [answer.current, card.current];
    if (at === null || !root || !box?.matches(":popover-open")) return;
    const range = rangeOfToken(root, tokens, at);
    if (range) placeBeside(box, range.getBoundingClientRect());
  });

  const { pointing, timeline } = app.batch;
  const output = at === null ? null : pane.memory.tokens.outputOf({ turnId, token: reasoning.length + at });
  const madeIn = output ? stepWords(timeline, output) : "";
  const [requestName, from] = [output?.requestName ?? null, output?.output ?? 0];
  // So that the timeline marks the step that made it.
  useEffect(() => {
    if (requestName === null) return;
    pointing.point({ requestName, index: 0, from, to: from + 1, by: "card" });
    return () => pointing.leave("card");
  }, [pointing, requestName, from]);

  const branch = (other: LikelyToken) => {
    if (at === null) return;
    setKept(false);
    setAt(null);
    if (!app.workspace.branchPane(pane, turnId, at, other)) pane.notify(noRoomNote());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEY_MOVES[event.key];
    if (event.key === "Escape" && at !== null) setAt(null);
    else if (event.key === "Enter" && at !== null) setKept(true);
    else if (move !== undefined && answer.current) setAt(nextSeen(ownersOf(answer.current, tokens), at, move));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <CursorArea
        // It lies over the answer for the keyboard; the pointer passes through.
        className="pointer-events-none absolute -inset-1 rounded-md"
        label="Probabilities, word by word"
        hint="Arrow keys move from word to word, Enter goes to the alternatives."
        value={at ?? 0}
        max={tokens.length - 1}
        words={token ? `${wordsOf(token)}${madeIn === "" ? "" : `. ${madeIn}`}` : "No word"}
        onKeyDown={onKeyDown}
        onBlur={() => isKept || setAt(null)}
      />
      <div
        ref={card}
        {...CARD}
        className="float pointer-events-none fixed inset-auto w-66 rounded-md px-3 py-2 t-12 data-[kept=true]:pointer-events-auto"
        aria-hidden={!isKept}
        data-kept={isKept}
        popover="manual"
        onToggle={({ newState }) => {
          if (newState === "open") return;
          setKept(false);
          if (isKept) setAt(null);
        }}
      >
        {token && <TokenCard token={token} madeIn={madeIn} onBranch={isKept && canBranch ? branch : null} />}
      </div>
    </>
  );
}

// Not a <dialog>: it would take the focus even while it only accompanies the pointer.
const CARD = { role: "dialog", "aria-label": "Alternatives" } as const;

const NO_TOKENS: TurnTokens = { reasoning: [], answer: [] };

function ownersOf(root: Element, tokens: readonly AnswerToken[]): Int32Array {
  return tokenOfEachCharacter(tokens, root.textContent ?? "");
}

/** Returns the next or previous token with visible text. Tokens of Markdown syntax have none. */
function nextSeen(owners: Int32Array, at: number | null, move: number): number | null {
  const seen = [...new Set(owners)];
  const place = at === null ? (move > 0 ? -1 : 0) : seen.indexOf(at);
  return seen[Math.max(0, Math.min(seen.length - 1, place + (at === null ? Math.sign(move) : move)))] ?? null;
}

function wordsOf(token: AnswerToken): string {
  const others = token.likeliest.filter((other) => other.text !== token.text);
  const list = others.map((other) => `${visibleToken(other)} ${formatShare(other)}`).join(", ");
  return `${visibleToken(token)}, ${formatShare(token)}.${list === "" ? "" : ` Others: ${list}`}`;
}

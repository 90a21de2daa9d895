import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { useApp } from "../app/page-context.ts";
import type { AnswerToken, LikelyToken, TurnTokens } from "../../state/chat/answer-tokens.ts";
import { findLikeliest } from "../../state/chat/likelihoods.ts";
import { noRoomNote } from "../../state/chat/note.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { stepWords } from "../batch/cell-facts.ts";
import { placeBeside } from "../components/PointerCard.tsx";
import { CursorArea } from "../components/CursorArea.tsx";
import { listen } from "../listen.ts";
import { formatShare, visibleToken } from "../token-text.ts";
import { markText, ownersIn, rangeOfToken, shadeTokens, tokenAt } from "./marked-text.ts";
import { canBranchWith } from "../../state/chat/branching.ts";

interface AnswerWordsProps {
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

/** Shades an answer's words by likelihood, and shows the one under pointer or cursor with its alternatives. A click keeps them. */
export function AnswerWords({ pane, turnId, answer, canBranch }: AnswerWordsProps) {
  const { batch, workspace } = useApp();
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
    const tokenUnder = ({ clientX, clientY }: MouseEvent) => tokenAt(root, tokens, clientX, clientY);
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

  const { pointing, timeline } = batch;
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
    if (!workspace.branchPane(pane, turnId, at, other)) pane.notify(noRoomNote());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEY_MOVES[event.key];
    if (event.key === "Escape" && at !== null) setAt(null);
    else if (event.key === "Enter" && at !== null) setKept(true);
    else if (move !== undefined && answer.current) setAt(nextSeen(ownersIn(answer.current, tokens), at, move));
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

interface TokenCardProps {
  token: AnswerToken;
  /** The step that made it; empty if it is forgotten. */
  madeIn: string;
  /** Continues from here with another token; null if the card only shows. */
  onBranch: ((other: LikelyToken) => void) | null;
}

function TokenCard({ token, madeIn, onBranch }: TokenCardProps) {
  return (
    <>
      <p className="flex justify-between gap-2">
        <code className={CODE}>{visibleToken(token)}</code> <b>{formatShare(token)}</b>
      </p>
      {token.likeliest.length > 0 && (
        <ol className="mt-1 grid gap-0.75 border-t border-line pt-1 text-ink-2">
          {token.likeliest.map((other, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- two tokens may have the same text
            <li
              key={index}
              data-chosen={isSame(other, token)}
              className="group data-[chosen=true]:font-semibold data-[chosen=true]:text-ink"
            >
              {onBranch && !isSame(other, token) && canBranchWith(other) ? (
                <button
                  type="button"
                  className="bare -mx-1.5 block w-[calc(100%+12px)] rounded-md px-1.5 py-1 hover:bg-surface-2 hover:text-ink"
                  onClick={() => onBranch(other)}
                >
                  <span className="sr-only">Go on with </span>
                  <Likely token={other} />
                  <span className="sr-only"> in a new pane</span>
                </button>
              ) : (
                <Likely token={other} />
              )}
            </li>
          ))}
        </ol>
      )}
      {madeIn !== "" && <p className="mt-1 flex justify-between gap-2 text-ink-3">{madeIn}</p>}
      {onBranch && (
        <p className="mt-1 flex justify-between gap-2 text-ink-3">Choose one to go on with it in a new pane.</p>
      )}
    </>
  );
}

const CODE = "truncate whitespace-pre [font:inherit] font-mono";

function Likely({ token }: { token: LikelyToken }) {
  return (
    <span className="grid grid-cols-[88px_minmax(0,1fr)_52px] items-center gap-2">
      <code className={CODE}>{visibleToken(token)}</code>
      <i
        className="h-2 min-w-px rounded-xs bg-control group-data-[chosen=true]:bg-ink"
        style={{ width: `${100 * Math.exp(token.logprob)}%` }}
      />
      <span className="text-right whitespace-nowrap">{formatShare(token)}</span>
    </span>
  );
}

function isSame(one: LikelyToken, other: LikelyToken): boolean {
  return one.id === other.id && one.text === other.text;
}

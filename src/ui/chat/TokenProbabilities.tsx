import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import type { TokenLogprob, TopLogprob } from "../../protocol/openai.ts";
import { tokenOfEachCharacter } from "../../state/chat/answer-tokens.ts";
import { CursorArea } from "../components/CursorArea.tsx";
import { characterAt, rangeOf } from "./seen-text.ts";
import css from "./TokenProbabilities.module.css";

interface TokenProbabilitiesProps {
  /** The rendered answer. It is never changed: a highlight marks the token. */
  answer: RefObject<HTMLElement | null>;
  tokens: readonly TokenLogprob[];
}

const HIGHLIGHT = "token";
const KEY_MOVES: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 };

/** Shows the probability of the token under the pointer or the keyboard cursor, and its alternatives. */
export function TokenProbabilities({ answer, tokens }: TokenProbabilitiesProps) {
  const [at, setAt] = useState<number | null>(null);
  const card = useRef<HTMLDivElement>(null);
  const token = at === null ? undefined : tokens[at];

  useEffect(() => {
    const root = answer.current;
    if (!root) return;
    const point = ({ clientX, clientY }: PointerEvent) => {
      const character = characterAt(root, clientX, clientY);
      setAt(character === null ? null : (ownersOf(root, tokens)[character] ?? null));
    };
    const leave = () => setAt(null);
    root.addEventListener("pointermove", point);
    root.addEventListener("pointerleave", leave);
    return () => {
      root.removeEventListener("pointermove", point);
      root.removeEventListener("pointerleave", leave);
    };
  }, [answer, tokens]);

  useEffect(() => {
    const [root, box] = [answer.current, card.current];
    if (at === null || !root || !box) return;
    const owners = ownersOf(root, tokens);
    const range = rangeOf(root, owners.indexOf(at), owners.lastIndexOf(at) + 1);
    if (!range) return;
    CSS.highlights?.set(HIGHLIGHT, new Highlight(range));
    // A popover is above all else and takes part in no layout.
    box.showPopover();
    const { left, bottom, top } = range.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = box;
    const isRoomBelow = bottom + offsetHeight + 8 < innerHeight;
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
    box.style.top = `${isRoomBelow ? bottom + 4 : top - offsetHeight - 4}px`;
    return () => {
      CSS.highlights?.delete(HIGHLIGHT);
      box.hidePopover();
    };
  }, [answer, tokens, at]);

  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEY_MOVES[event.key];
    if (event.key === "Escape" && at !== null) setAt(null);
    else if (move !== undefined && answer.current) setAt(nextSeen(ownersOf(answer.current, tokens), at, move));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <CursorArea
        className={css.cursor}
        label="Probabilities, token by token"
        hint="Arrow keys move from token to token."
        value={at ?? 0}
        max={tokens.length - 1}
        words={token ? wordsOf(token) : "No token"}
        onKeyDown={onKeyDown}
        onBlur={() => setAt(null)}
      />
      <div ref={card} className={css.card} popover="manual" aria-hidden="true">
        {token && <Card token={token} />}
      </div>
    </>
  );
}

function Card({ token }: { token: TokenLogprob }) {
  return (
    <>
      <p>
        <code>{visible(token.token)}</code> <b>{percent(token)}</b>
      </p>
      <ol>
        {token.top_logprobs.map((other, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- two tokens may have the same text
          <li key={index} data-chosen={other.token === token.token}>
            <code>{visible(other.token)}</code>
            <i style={{ width: `${100 * Math.exp(other.logprob)}%` }} />
            <span>{percent(other)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

function ownersOf(root: Element, tokens: readonly TokenLogprob[]): Int32Array {
  return tokenOfEachCharacter(tokens, root.textContent ?? "");
}

/** Returns the next or previous token with visible text. Tokens of Markdown syntax have none. */
function nextSeen(owners: Int32Array, at: number | null, move: number): number | null {
  const seen = [...new Set(owners)];
  const place = at === null ? (move > 0 ? -1 : 0) : seen.indexOf(at);
  return seen[Math.max(0, Math.min(seen.length - 1, place + (at === null ? Math.sign(move) : move)))] ?? null;
}

function wordsOf(token: TokenLogprob): string {
  const others = token.top_logprobs.filter((other) => other.token !== token.token);
  const list = others.map((other) => `${visible(other.token)} ${percent(other)}`).join(", ");
  return `${visible(token.token)}, ${percent(token)}. Others: ${list}`;
}

const SHARES = new Intl.NumberFormat("en-US", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

function percent({ logprob }: TopLogprob): string {
  const share = Math.exp(logprob);
  return share < 0.0005 ? "< 0.1%" : SHARES.format(share);
}

/** Makes spaces and line ends visible. */
function visible(text: string): string {
  return text.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}

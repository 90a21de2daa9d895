import { canBranchWith } from "../../state/chat/branching.ts";
import type { AnswerToken, LikelyToken } from "../../state/chat/answer-tokens.ts";
import { formatShare, visibleToken } from "../token-text.ts";

interface TokenCardProps {
  token: AnswerToken;
  /** The step that made it; empty if it is forgotten. */
  madeIn: string;
  /** Continues from here with another token; null if the card only shows. */
  onBranch: ((other: LikelyToken) => void) | null;
}

/** A token's likelihood and its alternatives. */
export function TokenCard({ token, madeIn, onBranch }: TokenCardProps) {
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

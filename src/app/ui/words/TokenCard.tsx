import { canBranchWith } from "../../state/chat/branching.ts";
import type { AnswerToken, LikelyToken } from "../../state/chat/answer-tokens.ts";
import { formatShare, visibleToken } from "../token-text.ts";
import css from "./AnswerWords.module.css";

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
      <p>
        <code>{visibleToken(token)}</code> <b>{formatShare(token)}</b>
      </p>
      {token.likeliest.length > 0 && (
        <ol>
          {token.likeliest.map((other, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- two tokens may have the same text
            <li key={index} data-chosen={isSame(other, token)}>
              {onBranch && !isSame(other, token) && canBranchWith(other) ? (
                <button type="button" className="bare" onClick={() => onBranch(other)}>
                  <span className="sr">Go on with </span>
                  <Likely token={other} />
                  <span className="sr"> in a new pane</span>
                </button>
              ) : (
                <Likely token={other} />
              )}
            </li>
          ))}
        </ol>
      )}
      {madeIn !== "" && <p className={css.hint}>{madeIn}</p>}
      {onBranch && <p className={css.hint}>Choose one to go on with it in a new pane.</p>}
    </>
  );
}

function Likely({ token }: { token: LikelyToken }) {
  return (
    <span className={css.likely}>
      <code>{visibleToken(token)}</code>
      <i style={{ width: `${100 * Math.exp(token.logprob)}%` }} />
      <span>{formatShare(token)}</span>
    </span>
  );
}

function isSame(one: LikelyToken, other: LikelyToken): boolean {
  return one.id === other.id && one.text === other.text;
}

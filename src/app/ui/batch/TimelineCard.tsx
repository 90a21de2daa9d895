import type { CellFacts } from "./cell-facts.ts";

/** The facts of a timeline's cell, as a card beside it. */
export function TimelineCard({ facts: { tokens, sequence, what, step, others } }: { facts: CellFacts }) {
  return (
    <>
      {tokens.length > 0 && (
        <p>
          {tokens.map(({ text, share }, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- two tokens may have the same text
            <span key={index}>
              {index > 0 && ", "}
              <code>{text}</code> <b>{share}</b>
            </span>
          ))}
        </p>
      )}
      <p>
        {sequence}: {what}
      </p>
      <p>
        {step}
        {others !== "" && `, ${others}`}
      </p>
    </>
  );
}

import { memo, useState, type ReactNode } from "react";
import type { Token } from "marked";
import { BlockToken } from "./BlockToken.tsx";
import css from "./Markdown.module.css";
import { MarkdownStream } from "./markdown-stream.ts";

interface MarkdownProps {
  text: string;
  /** Stands where the text grows, while it does. */
  caret: ReactNode;
}

/** An answer as it was meant. What it can hold is a short list (BlockToken, Inline): no HTML of the model's own. */
export function Markdown({ text, caret }: MarkdownProps) {
  const [stream] = useState(() => new MarkdownStream());
  const blocks = stream.blocksOf(text.trimStart());
  return (
    <div className={css.markdown}>
      {blocks.length === 0 && <p>{caret}</p>}
      {blocks.map((token, index) => (
        // Text only grows at its end: a block keeps its place.
        // oxlint-disable-next-line react/no-array-index-key
        <Block key={index} token={token} caret={index === blocks.length - 1 ? caret : null} />
      ))}
    </div>
  );
}

/** A finished block is the same token for ever, so that it is drawn once. */
const Block = memo(function Block({ token, caret }: { token: Token; caret: ReactNode }) {
  return <BlockToken token={token} caret={caret} />;
});

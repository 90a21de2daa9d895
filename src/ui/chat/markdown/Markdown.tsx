import { memo, useState, type ReactNode } from "react";
import type { Token } from "marked";
import { BlockToken } from "./BlockToken.tsx";
import css from "./Markdown.module.css";
import { MarkdownStream } from "./markdown-stream.ts";

interface MarkdownProps {
  text: string;
  /** Shown where the text grows. */
  caret: ReactNode;
}

/**
 * Renders an answer's Markdown. Only the elements of BlockToken and Inline are possible, never the model's own HTML.
 */
export function Markdown({ text, caret }: MarkdownProps) {
  const [stream] = useState(() => new MarkdownStream());
  const blocks = stream.blocksOf(text.trimStart());
  return (
    <div className={css.markdown}>
      {blocks.length === 0 && <p>{caret}</p>}
      {blocks.map((token, index) => (
        // Text only grows at its end, so a block keeps its index.
        // oxlint-disable-next-line react/no-array-index-key
        <Block key={index} token={token} caret={index === blocks.length - 1 ? caret : null} />
      ))}
    </div>
  );
}

/** A finished block's token never changes, so it is rendered once. */
const Block = memo(function Block({ token, caret }: { token: Token; caret: ReactNode }) {
  return <BlockToken token={token} caret={caret} dir="auto" />;
});

import { memo, useState, type ReactNode } from "react";
import type { Token } from "marked";
import { MarkdownToken } from "./MarkdownToken.tsx";
import { FormulasMissing } from "./Formula.tsx";
import { headingLevels } from "./heading-levels.ts";
import "../../late.css";
import { MarkdownStream } from "./markdown-stream.ts";

interface MarkdownProps {
  text: string;
  /** Shown where the text grows. */
  caret: ReactNode;
}

/**
 * Renders an answer's Markdown. Only the elements of MarkdownToken are possible, never the model's own HTML.
 */
export function Markdown({ text, caret }: MarkdownProps) {
  const [stream] = useState(() => new MarkdownStream());
  const blocks = stream.blocksOf(text.trimStart());
  const levels = headingLevels(blocks);
  return (
    <div className="markdown">
      {blocks.length === 0 && <p>{caret}</p>}
      {blocks.map((token, index) => (
        <Block
          // Text only grows at its end, so a block keeps its index.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          token={token}
          level={levels[index] ?? null}
          caret={index === blocks.length - 1 ? caret : null}
        />
      ))}
      <FormulasMissing blocks={blocks} />
    </div>
  );
}

/** A finished block's token never changes, so it is rendered once. */
const Block = memo(function Block(block: { token: Token; level: number | null; caret: ReactNode }) {
  return <MarkdownToken {...block} dir="auto" />;
});

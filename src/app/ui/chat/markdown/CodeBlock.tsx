import type { ReactNode } from "react";
import { CopyButton } from "../CopyButton.tsx";
import { ColouredCode } from "./ColouredCode.tsx";
import css from "./Markdown.module.css";

interface CodeBlockProps {
  code: string;
  /** The language after the fence; may be empty. */
  language: string;
  caret: ReactNode;
}

export function CodeBlock({ code, language, caret }: CodeBlockProps) {
  return (
    <div className={css.code} dir="ltr">
      <div className="row small h-8 justify-between pr-0.5 pl-3">
        <span>{language}</span>
        <CopyButton text={code} name="Copy code" />
      </div>
      {/* The arrow keys scroll it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0}>
        <ColouredCode code={code} language={language} isGrowing={caret !== null} />
        {caret}
      </pre>
    </div>
  );
}

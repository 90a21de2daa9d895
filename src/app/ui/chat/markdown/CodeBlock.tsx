import type { ReactNode } from "react";
import { SCROLLS } from "../../components/scrolls.ts";
import { CopyButton } from "../CopyButton.tsx";
import { ColouredCode } from "./ColouredCode.tsx";

interface CodeBlockProps {
  code: string;
  /** The language after the fence; may be empty. */
  language: string;
  caret: ReactNode;
}

export function CodeBlock({ code, language, caret }: CodeBlockProps) {
  return (
    <div className="rounded-md border border-line bg-surface-2" dir="ltr">
      <div className="row small h-8 justify-between pr-0.5 pl-3">
        <span>{language}</span>
        <CopyButton text={code} name="Copy code" />
      </div>
      <pre {...SCROLLS} className="overflow-x-auto px-3 pb-2.5 [overflow-wrap:normal] whitespace-pre">
        <ColouredCode code={code} language={language} isGrowing={caret !== null} />
        {caret}
      </pre>
    </div>
  );
}

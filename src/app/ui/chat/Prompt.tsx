import { useEffect, useState } from "react";
import { toErrorData, type ChorusErrorData, type RenderedChat } from "../../../index.ts";
import { titleOf } from "../../state/chat/note.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { promptOf } from "../../state/chat/prompt.ts";
import { DialogHead } from "../components/Dialog.tsx";
import { SCROLLS } from "../components/scrolls.ts";
import { formatCount } from "../format.ts";
import { CopyButton } from "./CopyButton.tsx";

/** Shows the exact prompt of the newest question. */
export function Prompt({ pane }: { pane: Pane }) {
  const [prompt, setPrompt] = useState<RenderedChat | null>(null);
  const [error, setError] = useState<ChorusErrorData | null>(null);
  useEffect(() => {
    void promptOf(pane).then(setPrompt, (reason) => setError(toErrorData(reason)));
  }, [pane]);
  return (
    <>
      <DialogHead title={`Prompt of pane ${pane.number}`}>
        {prompt && <CopyButton text={prompt.text} name="Copy the prompt" />}
      </DialogHead>
      {error && (
        <p className="small flex-none px-4 py-2" role="alert">
          {titleOf(error)}: {error.message}
        </p>
      )}
      {prompt && (
        <>
          <p className="small flex-none px-4 py-2">
            Exactly what the model reads for the newest question: {formatCount(prompt.tokenIds.length)} tokens. The
            answer continues from its end.
          </p>
          <pre
            className="mono min-h-0 overflow-auto border-t border-line bg-surface-2 px-4 py-3 [font:400_13px/20px_var(--mono)] focus-visible:-outline-offset-2"
            {...SCROLLS}
            aria-label="Text of the prompt"
          >
            {prompt.text}
          </pre>
        </>
      )}
    </>
  );
}

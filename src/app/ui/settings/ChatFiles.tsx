import { useState } from "react";
import { toErrorData, type ChorusErrorData } from "../../../index.ts";
import {
  importChats,
  readImport,
  type ImportedChats,
  type ImportProgress,
} from "../../state/workspace/export-chats.ts";
import { useApp } from "../app/page-context.ts";
import { chooseFiles } from "../choose-files.ts";
import { Button } from "../components/Button.tsx";
import { Callout } from "../components/Callout.tsx";
import { formatCount } from "../format.ts";
import { saveAllChats } from "../save-chats.ts";

type Outcome = ImportedChats | ImportProgress | { readonly error: ChorusErrorData };

export function ChatFiles() {
  const app = useApp();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const isReading = outcome !== null && "numRead" in outcome;

  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      setOutcome(await importChats(app.workspace, await readImport(file), setOutcome));
    } catch (error) {
      setOutcome({ error: toErrorData(error) });
    }
  };
  return (
    <section className="section mt-4" aria-label="Chats as files">
      <h3>Chats</h3>
      <p className="small mt-0.5 mb-2">
        Chats are kept in this browser and go nowhere else. Export them all, with settings, to one file.
      </p>
      <div className="row">
        <Button onClick={() => void saveAllChats(app)}>Export all chats</Button>
        <Button
          disabled={isReading}
          onClick={() => chooseFiles(([file]) => void open(file), { accept: ".json,application/json" })}
        >
          Import …
        </Button>
      </div>
      <Result outcome={outcome} />
      {outcome && "numListed" in outcome && (
        // The toast is behind the dialog.
        <Button
          onClick={() => {
            app.workspace.undoList.undo();
            setOutcome(null);
          }}
        >
          Undo the import
        </Button>
      )}
    </section>
  );
}

function Result({ outcome }: { outcome: Outcome | null }) {
  if (outcome === null) return null;
  if ("numRead" in outcome) {
    const { numRead, numChats } = outcome;
    return (
      <>
        <output className="small mt-2 mb-2 block">
          Reading {formatCount(numRead)} of {formatCount(numChats)} chats …
        </output>
        <progress value={numRead} max={numChats} aria-label="Chats read" />
      </>
    );
  }
  if ("numListed" in outcome) {
    const chatsWere = (num: number) => (num === 1 ? "1 chat was" : `${formatCount(num)} chats were`);
    return (
      <output className="small mt-2 mb-2 block">
        {chatsWere(outcome.numOpened)} opened.
        {outcome.numListed > 0 && ` ${chatsWere(outcome.numListed)} added to the list of chats.`}
      </output>
    );
  }
  return (
    <Callout tone="bad" title="Not imported">
      <p>{outcome.error.message} Nothing was changed.</p>
    </Callout>
  );
}

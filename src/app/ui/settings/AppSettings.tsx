import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { withSetting } from "../../state/settings/settings.ts";
import { SettingsForm } from "./SettingsForm.tsx";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { EngineTabs } from "../../state/engine/engine-tabs.ts";
import { memoryWords } from "../engine/memory-words.ts";
import { formatBytes, formatCount } from "../format.ts";
import { useState } from "react";
import { toErrorData, type ChorusErrorData } from "../../../index.ts";
import {
  importChats,
  readImport,
  type ImportedChats,
  type ImportProgress,
} from "../../state/workspace/export-chats.ts";
import { chooseFiles } from "../choose-files.ts";
import { Button } from "../components/Button.tsx";
import { Callout } from "../components/Callout.tsx";
import { saveAllChats } from "../save-chats.ts";

export function AppSettings() {
  const { engine, serving, settings, addressSettings, tabs } = useApp();
  const numServing = useStore(serving.store, ({ settings: changed }) => Object.keys(changed).length);
  const values = useStore(settings);
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const inAddress = Object.entries(addressSettings);
  return (
    <>
      <p className="small mb-3">A pane can have its own settings, which override these.</p>
      {inAddress.length > 0 && (
        <p className="small mb-3">
          The page's address asks for {inAddress.map(([name, value]) => `${name} ${String(value)}`).join(", ")}. On this
          visit that overrides what is set here.
        </p>
      )}
      <SettingsForm
        values={values}
        inherited={{}}
        source=""
        model={model}
        onSet={(name, value) => settings.setState(withSetting(values, name, value), true)}
        onReplace={(replaced) => settings.setState(replaced, true)}
      />
      <section className="section mt-4" aria-label="Serving">
        <h3>Serving</h3>
        <p className="small mt-0.5 mb-2">
          How the engine shares its steps among all chats (
          {numServing === 0 ? "default settings" : `${numServing} changed`}).
        </p>
        <a className="button" href="#/serving">
          Serving settings
        </a>
      </section>
      <section className="section mt-4" aria-label="Engine">
        <h3>Engine</h3>
        {tabs?.canShare && <ShareSwitch engine={engine} />}
        {model && (
          <p className="small mt-0.5 mb-2">
            The model takes {formatBytes(model.weightBytes)} for weights and {formatBytes(model.kvCacheBytes)} for the
            cache. {tabs && <TabsMemory tabs={tabs} />}
          </p>
        )}
      </section>
      <ChatFiles />
    </>
  );
}

function ShareSwitch({ engine }: { engine: EngineControl }) {
  const isLoading = useStore(engine.store, ({ status }) => status === "loading");
  const isShared = useStore(engine.chosen, (choice) => choice.isShared);
  return (
    <>
      <label className="row min-h-7 font-medium">
        <input
          type="checkbox"
          checked={isShared}
          disabled={isLoading}
          aria-describedby="one-engine-help"
          onChange={(event) => void engine.share(event.target.checked)}
        />
        One engine for all tabs
      </label>
      <p id="one-engine-help" className="small mt-0.5 mb-2">
        The tabs of Chorus share one copy of the model, and their answers share its batch. Choosing another model,
        backend or serving then changes all tabs. In some browsers a shared engine has no GPU, or one thread only. This
        restarts the engines of all tabs and stops answers in progress.
      </p>
    </>
  );
}

function TabsMemory({ tabs }: { tabs: EngineTabs }) {
  return memoryWords(useStore(tabs.store));
}

type Outcome = ImportedChats | ImportProgress | { readonly error: ChorusErrorData };

function ChatFiles() {
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

import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { EngineTabs } from "../../state/engine/engine-tabs.ts";
import { memoryWords } from "../engine/memory-words.ts";
import { formatBytes } from "../format.ts";
import { useStore } from "../use-store.ts";

interface EngineSwitchesProps {
  engine: EngineControl;
  /** Null if tabs can't communicate. */
  tabs: EngineTabs | null;
}

/** Settings of the engine, not of a question: changing one restarts the engine. */
export function EngineSwitches({ engine, tabs }: EngineSwitchesProps) {
  const isLoading = useStore(engine.store, ({ status }) => status === "loading");
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  return (
    <section className="section mt-4" aria-label="Engine">
      <h3>Engine</h3>
      {tabs?.canShare && <ShareSwitch engine={engine} isLoading={isLoading} />}
      {model && (
        <p className="small mt-0.5 mb-2">
          The model takes {formatBytes(model.weightBytes)} for weights and {formatBytes(model.kvCacheBytes)} for the
          cache. {tabs && <TabsMemory tabs={tabs} />}
        </p>
      )}
    </section>
  );
}

function ShareSwitch({ engine, isLoading }: { engine: EngineControl; isLoading: boolean }) {
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

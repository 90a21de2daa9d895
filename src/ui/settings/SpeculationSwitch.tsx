import type { EngineControl } from "../../state/engine/engine-control.ts";
import { useStore } from "../use-store.ts";
import css from "./AppSettings.module.css";

/** A setting of the engine, not of a question: changing it restarts the engine. */
export function SpeculationSwitch({ engine }: { engine: EngineControl }) {
  const isOn = useStore(engine.isSpeculating, (state) => state);
  const isLoading = useStore(engine.store, ({ status }) => status === "loading");
  return (
    <section className={css.files} aria-label="Engine">
      <h3>Engine</h3>
      <label className={css.switch}>
        <input
          type="checkbox"
          checked={isOn}
          disabled={isLoading}
          aria-describedby="speculation-help"
          onChange={(event) => void engine.speculate(event.target.checked)}
        />
        Speculation
      </label>
      <p id="speculation-help" className={css.hint}>
        Drafts words that followed the same words before, and checks several in one step. Faster where a text repeats
        itself; the answers stay the same. This restarts the engine and stops answers in progress.
      </p>
    </section>
  );
}

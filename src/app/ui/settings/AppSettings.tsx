import type { AppState } from "../../state/app/app-state.ts";
import { useStore } from "../use-store.ts";
import { ChatFiles } from "./ChatFiles.tsx";
import { EngineSwitches } from "./EngineSwitches.tsx";
import { SettingsForm } from "./SettingsForm.tsx";

/** The content of the dialog of the settings for all panes. */
export function AppSettings({ app }: { app: AppState }) {
  return (
    <>
      <p className="small mb-3">A pane can have its own settings, which override these.</p>
      <Form app={app} />
      <ServingLink app={app} />
      <EngineSwitches engine={app.engine} tabs={app.tabs} />
      <ChatFiles app={app} />
    </>
  );
}

function ServingLink({ app }: { app: AppState }) {
  const count = useStore(app.serving.store, ({ settings }) => Object.keys(settings).length);
  return (
    <section className="section mt-4" aria-label="Serving">
      <h3>Serving</h3>
      <p className="small mt-0.5 mb-2">
        How the engine shares its steps among all chats ({count === 0 ? "default settings" : `${count} changed`}).
      </p>
      <a className="button" href="#/serving">
        Serving settings
      </a>
    </section>
  );
}

function Form({ app }: { app: AppState }) {
  const values = useStore(app.settings.store);
  const model = useStore(app.engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const inAddress = Object.entries(app.settings.address);
  return (
    <>
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
        schemaProblem={app.schemaProblem}
        onSet={(name, value) => app.settings.set(name, value)}
        onReplace={(settings) => app.settings.replace(settings)}
      />
    </>
  );
}

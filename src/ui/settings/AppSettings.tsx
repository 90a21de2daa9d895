import type { AppState } from "../../state/app/app-state.ts";
import { Icon } from "../components/Icon.tsx";
import { Sheet } from "../components/Sheet.tsx";
import { useStore } from "../use-store.ts";
import css from "./AppSettings.module.css";
import { ChatFiles } from "./ChatFiles.tsx";
import { SettingsForm } from "./SettingsForm.tsx";
import { SpeculationSwitch } from "./SpeculationSwitch.tsx";

const OPEN = {
  id: "settings.open",
  title: "Settings for all",
  group: "Chats",
  words: "temperature system prompt sampling seed preset import export options preferences",
} as const;

/** The button in the bar and its sheet: what counts for all panes, and the chats as files. */
export function AppSettings({ app }: { app: AppState }) {
  return (
    <Sheet name="Settings for all" button={<Icon name="settings" />} command={OPEN} commands={app.commands}>
      <p className={css.hint}>A pane can have settings of its own, which count before these.</p>
      <Form app={app} />
      <SpeculationSwitch engine={app.engine} />
      <ChatFiles app={app} />
    </Sheet>
  );
}

function Form({ app }: { app: AppState }) {
  const values = useStore(app.settings.store, (state) => state);
  const model = useStore(app.engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const asked = Object.entries(app.settings.address);
  return (
    <>
      {asked.length > 0 && (
        <p className={css.hint}>
          The page's address asks for {asked.map(([name, value]) => `${name} ${String(value)}`).join(", ")}: on this
          visit that counts before what is set here.
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

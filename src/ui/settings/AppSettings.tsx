import type { AppState } from "../../state/app/app-state.ts";
import { Icon } from "../components/Icon.tsx";
import { Sheet } from "../components/Sheet.tsx";
import { useStore } from "../use-store.ts";
import css from "./AppSettings.module.css";
import { ChatFiles } from "./ChatFiles.tsx";
import { EngineSwitches } from "./EngineSwitches.tsx";
import { ServingSettings } from "./ServingSettings.tsx";
import { SettingsForm } from "./SettingsForm.tsx";
import { SiteApiSwitch } from "./SiteApiSwitch.tsx";

const OPEN = {
  id: "settings.open",
  title: "Settings for all panes",
  group: "Chats",
  words:
    "temperature system prompt sampling seed preset import export options preferences serving batching policy queue cache drafts",
} as const;

/** The settings for all panes, and the chats as files. */
export function AppSettings({ app }: { app: AppState }) {
  return (
    <Sheet name="Settings for all panes" button={<Icon name="settings" />} command={OPEN} commands={app.commands}>
      <p className={css.hint}>A pane can have its own settings, which override these.</p>
      <Form app={app} />
      <ServingSettings app={app} />
      <EngineSwitches engine={app.engine} tabs={app.tabs} />
      {app.siteApi && <SiteApiSwitch api={app.siteApi} />}
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
          The page's address asks for {asked.map(([name, value]) => `${name} ${String(value)}`).join(", ")}. On this
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

import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { useStore } from "../use-store.ts";
import { AnsweredBy } from "./AnsweredBy.tsx";
import { SettingsForm } from "./SettingsForm.tsx";

/** The settings of one pane. */
export function PaneSettings({ app, pane }: { app: AppState; pane: Pane }) {
  const values = useStore(pane.store, (state) => state.settings);
  const { engine, isRemote } = useStore(pane.asking);
  return (
    <>
      <AnsweredBy app={app} pane={pane} />
      <SettingsForm
        values={values}
        inherited={app.settings.inherited()}
        source="all panes"
        model={isRemote || engine === null ? null : engine.model}
        schemaProblem={app.schemaProblem}
        onSet={(name, value) => pane.set(name, value)}
        onReplace={(settings) => pane.replaceSettings(settings)}
      />
    </>
  );
}

import { useMemo } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Icon } from "../components/Icon.tsx";
import { lazily } from "../components/Lazily.tsx";
import { Sheet } from "../components/Sheet.tsx";
import { useStore } from "../use-store.ts";
import { AnsweredBy } from "./AnsweredBy.tsx";
import css from "./PaneSettings.module.css";

const SettingsForm = lazily(async () => (await import("./SettingsForm.tsx")).SettingsForm);

/** The settings of one pane. */
export function PaneSettings({ app, pane }: { app: AppState; pane: Pane }) {
  const { number } = pane;
  const command = useMemo(
    () => ({
      id: `pane.settings.${number}`,
      title: "Settings of this pane",
      group: "Chats" as const,
      words: "temperature system prompt sampling seed preset options",
      isEnabled: () => app.workspace.store.getState().current === number,
    }),
    [app, number],
  );
  const numOwn = useStore(pane.store, ({ settings }) => Object.keys(settings).length);
  const name = `Settings of pane ${number}`;
  return (
    <Sheet
      name={name}
      buttonName={numOwn === 0 ? name : `${name}, ${numOwn} of its own`}
      button={
        <>
          <Icon name="settings" />
          {numOwn > 0 && <span className={css.mark}>{numOwn}</span>}
        </>
      }
      command={command}
      commands={app.commands}
    >
      <AnsweredBy app={app} pane={pane} />
      <Form app={app} pane={pane} />
    </Sheet>
  );
}

function Form({ app, pane }: { app: AppState; pane: Pane }) {
  const values = useStore(pane.store, (state) => state.settings);
  const { engine, isRemote } = useStore(pane.asking);
  return (
    <SettingsForm
      values={values}
      inherited={app.settings.inherited()}
      source="all panes"
      model={isRemote || engine === null ? null : engine.model}
      schemaProblem={app.schemaProblem}
      onSet={(name, value) => pane.set(name, value)}
      onReplace={(settings) => pane.replaceSettings(settings)}
    />
  );
}

import type { AppState } from "../../state/app/app-state.ts";
import type { Theme } from "../../state/app/theme.ts";
import { MAX_PANES } from "../../state/workspace/workspace.ts";
import { classNames } from "../class-names.ts";
import { AppSettings } from "../settings/AppSettings.tsx";
import { Button } from "../components/Button.tsx";
import { formatRate } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { ModelPicker } from "../models/ModelPicker.tsx";
import { useStore } from "../use-store.ts";
import css from "./Bar.module.css";
import { BatchingSwitch } from "../batch/BatchingSwitch.tsx";
import { ChatsButton } from "../history/ChatsButton.tsx";
import { CommandsButton } from "./CommandsButton.tsx";
import { DemoLink } from "./DemoLink.tsx";
import { EngineStatus } from "../engine/EngineStatus.tsx";
import { Logo } from "../components/Logo.tsx";
import { SendToAll } from "./SendToAll.tsx";
import { ThemeButton } from "./ThemeButton.tsx";

export function Bar({ app, theme }: { app: AppState; theme: Theme }) {
  const { engine, workspace } = app;
  const isFull = useStore(workspace.store, ({ panes }) => panes.length >= MAX_PANES);
  const whyNot = isFull ? `${MAX_PANES} panes are open: close one first` : null;
  return (
    <header className={css.bar}>
      <h1 className="brand">
        <Logo />
        <span>Chorus</span>
      </h1>
      <ModelPicker app={app} />
      <BatchingSwitch batch={app.batch} className={css.wide} />
      <div className="grow" />
      <LiveRate app={app} />
      <EngineStatus engine={engine} />
      <div className="row tight">
        <Button
          className={classNames(css.wide, css.add)}
          aria-label="Add pane"
          // Not `disabled`: it says why, to keys and screen readers too.
          aria-disabled={whyNot !== null}
          title={whyNot ?? "Add a pane"}
          onClick={() => (whyNot === null ? workspace.addPane() : app.announcements.announce(whyNot))}
        >
          <Icon name="plus" />
          <span>Add pane</span>
        </Button>
        <SendToAll workspace={workspace} commands={app.commands} />
      </div>
      <DemoLink />
      <ChatsButton app={app} />
      <CommandsButton commands={app.commands} />
      <AppSettings app={app} />
      <ThemeButton theme={theme} className={css.wide} />
    </header>
  );
}

function LiveRate({ app }: { app: AppState }) {
  const rate = useStore(app.metrics.store, (figures) => figures.tokensPerSecond);
  return (
    <p className={css.live}>
      <b>{formatRate(rate)}</b>
      <span className="small">tokens/s</span>
    </p>
  );
}

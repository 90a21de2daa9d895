import type { AppState } from "../state/app-state.ts";
import type { Theme } from "../state/theme.ts";
import { Announcer } from "./Announcer.tsx";
import css from "./App.module.css";
import { BatchStrip } from "./batch/BatchStrip.tsx";
import { Bar } from "./bar/Bar.tsx";
import { UnsupportedPage } from "./unsupported/UnsupportedPage.tsx";
import { PaneGrid } from "./pane/PaneGrid.tsx";
import { PaneSwitcher } from "./pane/PaneSwitcher.tsx";
import { CommandCenter } from "./CommandCenter.tsx";
import { useStore } from "./use-store.ts";

export function App({ app, theme }: { app: AppState; theme: Theme }) {
  const unsupported = useStore(app.engine.store, (state) => (state.status === "unsupported" ? state.error : null));
  if (unsupported) return <UnsupportedPage engine={app.engine} error={unsupported} />;
  return (
    <div className={css.app}>
      <Bar app={app} theme={theme} />
      <PaneSwitcher workspace={app.workspace} />
      <main className={css.main}>
        <PaneGrid app={app} />
        <BatchStrip metrics={app.metrics} />
      </main>
      <CommandCenter app={app} theme={theme} />
      <Announcer announcements={app.announcements} />
    </div>
  );
}

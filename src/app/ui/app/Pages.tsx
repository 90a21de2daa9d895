import type { AppState } from "../../state/app/app-state.ts";
import type { AppUpdates } from "../../state/app/app-updates.ts";
import type { CreateEngine } from "../../state/engine/engine-control.ts";
import type { Route, Router } from "../../state/app/router.ts";
import type { Theme } from "../../state/app/theme.ts";
import { App } from "./App.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazily } from "../components/Lazily.tsx";
import { UpdateNotice } from "./UpdateNotice.tsx";
import { useStore } from "../use-store.ts";

const PlayerPage = lazily(async () => (await import("../player/PlayerPage.tsx")).PlayerPage);
const DemoPage = lazily(async () => (await import("../demo/DemoPage.tsx")).DemoPage);
const BenchPage = lazily(async () => (await import("../bench/BenchPage.tsx")).BenchPage);
const DocsPage = lazily(async () => (await import("../docs/DocsPage.tsx")).DocsPage);

interface PagesProps {
  readonly router: Router;
  readonly theme: Theme;
  readonly updates: AppUpdates;
  /** Opens the chats at the first call, so that the benchmark page loads no model for them. */
  readonly openChats: () => AppState;
  readonly createEngine: CreateEngine;
  readonly model: string;
}

export function Pages(props: PagesProps) {
  const route = useStore(props.router.store, (state) => state);
  return (
    <Guard part="Chorus">
      <Guard part="This page" subject={route.page} {...(route.page !== "" && { onClose: backToChats })}>
        <Page {...props} route={route} />
      </Guard>
      <UpdateNotice updates={props.updates} />
    </Guard>
  );
}

function backToChats(): void {
  location.hash = "#/";
}

/** Shows the page that the address's hash names: the demo, the benchmark, the player, a document, or else the chats. */
function Page({ route, theme, openChats, createEngine, model }: PagesProps & { route: Route }) {
  if (route.page === "bench") {
    return <BenchPage theme={theme} createEngine={createEngine} embeddedModel={model} params={route.params} />;
  }
  if (route.page === "player") return <PlayerPage theme={theme} openChats={openChats} />;
  if (route.page === "demo") return <DemoPage theme={theme} chats={openChats()} />;
  if (/^docs(?:\/|$)/.test(route.page)) {
    return <DocsPage theme={theme} name={route.page.slice("docs/".length)} at={route.params.get("at")} />;
  }
  return <App app={openChats()} theme={theme} />;
}

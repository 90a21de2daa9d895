import { Activity, useState, type ReactNode } from "react";
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

/** Shows one page. While it is another than the chats, these are only hidden: they keep where one was reading. */
export function Pages(props: PagesProps) {
  const route = useStore(props.router.store);
  const page = pageAt(props, route);
  const [hasChats, setHasChats] = useState(false);
  if (page === null && !hasChats) setHasChats(true);
  return (
    <Guard part="Chorus">
      {page !== null && (
        <Guard part="This page" subject={route.page} onClose={backToChats}>
          {page}
        </Guard>
      )}
      {hasChats && (
        <Activity mode={page === null ? "visible" : "hidden"}>
          <Guard part="This page" subject={route.page}>
            <App app={props.openChats()} theme={props.theme} />
          </Guard>
        </Activity>
      )}
      <UpdateNotice updates={props.updates} />
    </Guard>
  );
}

function backToChats(): void {
  location.hash = "#/";
}

/** Returns the page that the address's hash names: the demo, the benchmark, the player or a document; null for the chats. */
function pageAt({ theme, openChats, createEngine, model }: PagesProps, route: Route): ReactNode {
  if (route.page === "bench") {
    return <BenchPage theme={theme} createEngine={createEngine} embeddedModel={model} params={route.params} />;
  }
  if (route.page === "player") return <PlayerPage theme={theme} openChats={openChats} />;
  if (route.page === "demo") return <DemoPage theme={theme} chats={openChats()} />;
  if (/^docs(?:\/|$)/.test(route.page)) {
    return <DocsPage theme={theme} name={route.page.slice("docs/".length)} at={route.params.get("at")} />;
  }
  return null;
}

import { Activity, useMemo, useState, type ReactNode } from "react";
import type { AppUpdates } from "../../state/app/app-updates.ts";
import type { CreateEngine } from "../../state/engine/engine-control.ts";
import type { Route } from "../../state/app/router.ts";
import type { ReadonlyStore } from "../../state/store.ts";
import { App } from "./App.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazily } from "../components/Lazily.tsx";
import { UpdateNotice } from "./UpdateNotice.tsx";
import { Overlays } from "../overlays/Overlays.tsx";
import { PageContext, type Page, type PageName } from "./page-context.ts";
import { useStore } from "../use-store.ts";

/** Where a first visit, over a slow network, has not loaded the page yet. */
const OPENING = (
  <main className="poster">
    <p>Opening …</p>
  </main>
);
const PlayerPage = lazily(async () => (await import("../player/PlayerPage.tsx")).PlayerPage, OPENING);
const DemoPage = lazily(async () => (await import("../demo/DemoPage.tsx")).DemoPage, OPENING);
const BenchPage = lazily(async () => (await import("../bench/BenchPage.tsx")).BenchPage, OPENING);
const ServingPage = lazily(async () => (await import("../settings/ServingPage.tsx")).ServingPage, OPENING);
const DocsPage = lazily(async () => (await import("../docs/DocsPage.tsx")).DocsPage, OPENING);

interface PagesProps {
  readonly route: ReadonlyStore<Route>;
  readonly shared: Omit<Page, "name">;
  readonly updates: AppUpdates;
  readonly createEngine: CreateEngine;
  readonly model: string;
}

/** Shows one page. While it is another than the chats, these are only hidden: they keep where one was reading. */
export function Pages(props: PagesProps) {
  const route = useStore(props.route);
  const { shared } = props;
  const name = nameOf(route);
  const page = useMemo((): Page => ({ ...shared, name }), [shared, name]);
  const [hasChats, setHasChats] = useState(false);
  if (name === "chats" && !hasChats) setHasChats(true);
  return (
    <PageContext value={page}>
      <Guard part="Chorus">
        {name !== "chats" && (
          <Guard part="This page" subject={route.page} onClose={backToChats}>
            {viewOf(name, props, route)}
          </Guard>
        )}
        {hasChats && (
          <Activity mode={name === "chats" ? "visible" : "hidden"}>
            <Guard part="This page" subject={route.page}>
              <App app={shared.openChats()} />
            </Guard>
          </Activity>
        )}
        <Overlays />
        <UpdateNotice updates={props.updates} />
      </Guard>
    </PageContext>
  );
}

function backToChats(): void {
  location.hash = "#/";
}

/** Returns the page that the address's hash names; any other address leads to the chats. */
function nameOf(route: Route): PageName {
  const first = route.page.split("/", 1)[0];
  return (["demo", "bench", "player", "docs", "serving"] as const).find((name) => name === first) ?? "chats";
}

function viewOf(name: PageName, { shared, createEngine, model }: PagesProps, route: Route): ReactNode {
  const { openChats } = shared;
  switch (name) {
    case "bench":
      return <BenchPage createEngine={createEngine} embeddedModel={model} params={route.params} />;
    case "player":
      return <PlayerPage openChats={openChats} />;
    case "demo":
      return <DemoPage chats={openChats()} />;
    case "serving":
      return <ServingPage app={openChats()} />;
    case "docs":
      return <DocsPage name={route.page.slice("docs/".length)} at={route.params.get("at")} />;
    case "chats":
      return null;
  }
}

import { Activity, useState, type ReactNode } from "react";
import { useStore } from "zustand";
import type { AppUpdates } from "../../state/app/app-updates.ts";
import type { CreateEngine } from "../../state/engine/engine-control.ts";
import type { Route } from "../../state/app/router.ts";
import type { ReadonlyStore } from "../../state/store.ts";
import { App } from "./App.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { usePage, type PageName } from "./page-context.ts";
import { Button } from "../components/Button.tsx";
import { useShortcuts } from "../actions/use-shortcuts.ts";
import { Dialog } from "../components/Dialog.tsx";

/** Where a first visit, over a slow network, has not loaded the page yet. */
const OPENING = (
  <main className="poster">
    <p>Opening …</p>
  </main>
);
const PlayerPage = lazyComponent(async () => (await import("../player/PlayerPage.tsx")).PlayerPage, OPENING);
const DemoPage = lazyComponent(async () => (await import("../demo/DemoPage.tsx")).DemoPage, OPENING);
const BenchPage = lazyComponent(async () => (await import("../bench/BenchPage.tsx")).BenchPage, OPENING);
const ServingPage = lazyComponent(async () => (await import("../settings/ServingPage.tsx")).ServingPage, OPENING);
const DocsPage = lazyComponent(async () => (await import("../docs/DocsPage.tsx")).DocsPage, OPENING);

interface PagesProps {
  readonly route: ReadonlyStore<Route>;
  readonly updates: AppUpdates;
  readonly createEngine: CreateEngine;
  readonly model: string;
}

/** The views beside the chats. */
const VIEWS: Readonly<Record<Exclude<PageName, "chats">, (props: PagesProps, route: Route) => ReactNode>> = {
  demo: () => <DemoPage />,
  bench: ({ createEngine, model }, { params }) => (
    <BenchPage createEngine={createEngine} embeddedModel={model} params={params} />
  ),
  player: () => <PlayerPage />,
  docs: (_, { page, params }) => <DocsPage name={page.slice("docs/".length)} at={params.get("at")} />,
  serving: () => <ServingPage />,
};

/** Returns the view that the address's hash names; any other address leads to the chats. */
export function nameOfPage({ page }: Route): PageName {
  const first = page.split("/", 1)[0];
  return (Object.keys(VIEWS) as (keyof typeof VIEWS)[]).find((name) => name === first) ?? "chats";
}

/** Shows one view. While it is another than the chats, these are only hidden: they keep where one was reading. */
export function Pages(props: PagesProps) {
  const route = useStore(props.route);
  const name = nameOfPage(route);
  const { openChats } = usePage();
  // These begin to load their model, beside their own code.
  if (name === "chats" || name === "demo" || name === "serving") openChats();
  const [hasChats, setHasChats] = useState(false);
  if (name === "chats" && !hasChats) setHasChats(true);
  return (
    <Guard part="Chorus">
      {name !== "chats" && (
        <Guard part="This page" subject={route.page} onClose={() => location.assign("#/")}>
          {VIEWS[name](props, route)}
        </Guard>
      )}
      {hasChats && (
        <Activity mode={name === "chats" ? "visible" : "hidden"}>
          <Guard part="This page" subject={route.page}>
            <App />
          </Guard>
        </Activity>
      )}
      <Overlays />
      <UpdateNotice updates={props.updates} />
    </Guard>
  );
}

/** Reports a newer version. The person decides when to reload, since answers may be in progress. */
function UpdateNotice({ updates }: { updates: AppUpdates }) {
  const isThere = useStore(updates.store);
  const [isLater, setIsLater] = useState(false);
  return (
    <output className="over top-[calc(var(--bar-h)+8px)]">
      {isThere && !isLater && (
        <div className="float row toast flex-wrap">
          <p>A new version of Chorus is available.</p>
          <Button onClick={() => location.reload()}>Reload to update</Button>
          <Button look="quiet" onClick={() => setIsLater(true)}>
            Later
          </Button>
        </div>
      )}
    </output>
  );
}

/** Shows the page's open dialog, and opens others by their keys. */
function Overlays() {
  const page = usePage();
  const { overlay } = page;
  useShortcuts(page);
  const opened = useStore(overlay.store);
  if (opened === null) return null;
  const { number, content } = opened;
  return <Dialog key={number} content={content} onClosed={() => overlay.close(opened)} />;
}

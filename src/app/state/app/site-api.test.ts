import { expect, it } from "vitest";

import type { FromPage } from "../../service-worker/page-api-messages.ts";
import { FakeLocks } from "../../../../tests/app/fake-locks.ts";
import { openPanes, settle } from "../../../../tests/app/open-panes.ts";
import { answerApi, type PageClient } from "../../service-worker/answer-api.ts";
import { SiteApi } from "./site-api.ts";

const SCOPE = "https://host.example/app/";

/** An origin's storage and locks, which its tabs share. */
function openOrigin() {
  const kept = new Set<string>();
  const locks = new FakeLocks();
  const tabs = new EventTarget();
  const claims: unknown[] = [];
  const caches = {
    has: async (name: string) => kept.has(name),
    open: async (name: string) => (kept.add(name), {} as Cache),
    delete: async (name: string) => kept.delete(name),
  };
  const channel = {
    postMessage: () => void tabs.dispatchEvent(new Event("message")),
    addEventListener: tabs.addEventListener.bind(tabs) as BroadcastChannel["addEventListener"],
  };
  const active = { postMessage: (message: unknown) => claims.push(message) };
  async function openTab() {
    const target = new EventTarget();
    const { locks: own, close } = locks.tab();
    const page = openPanes();
    const workers = {
      ready: Promise.resolve({ scope: SCOPE, active } as unknown as ServiceWorkerRegistration),
      addEventListener: target.addEventListener.bind(target) as ServiceWorkerContainer["addEventListener"],
      startMessages: () => undefined,
    };
    const api = new SiteApi(page.control, { workers, caches, locks: own, channel });
    await api.start();
    const client: PageClient = {
      postMessage: (data, [port]) =>
        void target.dispatchEvent(Object.assign(new Event("message"), { data, ports: port ? [port] : [] })),
    };
    return { ...page, api, client, close };
  }
  const ask = async (...pages: { client: PageClient }[]) => {
    const clients = pages.map(({ client }) => client);
    const response = await answerApi(new Request(`${SCOPE}v1/models`), "/v1/models", SCOPE, clients, 500);
    const { data = [], error } = (await response.json()) as { data?: { id: string }[]; error?: { code: string } };
    return error?.code ?? data[0]?.id ?? null;
  };
  return { openTab, ask, claims };
}

it("answers only while it is switched on, in every tab and on later visits", async () => {
  const { openTab, ask, claims } = openOrigin();
  const tab = await openTab();
  await tab.control.start();
  expect(tab.api.store.getState()).toEqual({ url: `${SCOPE}v1`, isOn: false });
  expect([await ask(tab), claims]).toEqual(["no_tab", []]);
  await tab.api.turn(true);
  await settle();
  expect([await ask(tab), claims.length]).toEqual(["fake-gpt", 1]);
  const later = await openTab();
  expect([later.api.store.getState().isOn, claims.length]).toEqual([true, 2]);
  await later.api.turn(false);
  await settle();
  expect([tab.api.store.getState().isOn, await ask(tab, later)]).toEqual([false, "no_tab"]);
});

it("has one tab answer, and the next once that is closed or its engine is gone", async () => {
  const { openTab, ask } = openOrigin();
  const [first, second] = [await openTab(), await openTab()];
  await Promise.all([first.control.start(), second.control.start()]);
  await first.api.turn(true);
  await settle();
  expect(await ask(first, second)).toBe("fake-gpt");
  expect(await ask(second)).toBe("no_tab");
  first.first.die({ code: "device_lost", message: "gone", param: null });
  await settle();
  expect(await ask(first)).toBe("no_tab");
  expect(await ask(second)).toBe("fake-gpt");
  await first.control.start();
  second.close();
  await settle();
  expect(await ask(first)).toBe("fake-gpt");
});

it("says that it is loading, and leaves other scopes' calls alone", async () => {
  const { openTab, ask } = openOrigin();
  const tab = await openTab();
  await tab.api.turn(true);
  await settle();
  expect(await ask(tab)).toBe("model_loading");
  const { port1, port2 } = new MessageChannel();
  const offers: FromPage[] = [];
  port1.addEventListener("message", ({ data }) => offers.push(data as FromPage));
  port1.start();
  tab.client.postMessage({ type: "chorus-api", scope: "https://host.example/other/" }, [port2]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(offers).toEqual([]);
  port1.close();
});

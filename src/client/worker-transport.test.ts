// The transport of an engine in a worker; a port of this thread plays the worker.

import * as Comlink from "comlink";
import { announced } from "../protocol/announced-endpoint.ts";
import { beforeEach, expect, test, vi } from "vitest";

import { AT } from "../../tests/app/fake-side.ts";
import { EngineClient } from "./engine-client.ts";
import { startWorker } from "./worker-transport.ts";

const terminate = vi.fn<() => void>();
let ports: MessageChannel | undefined;

beforeEach(() => {
  terminate.mockClear();
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("Worker", function () {
    ports = new MessageChannel();
    const { port1, port2 } = ports;
    // It answers that it has started, and nothing else.
    Comlink.expose({ started: () => false, load: () => new Promise(() => undefined) }, announced(port2));
    port1.start();
    return Object.assign(port1, { terminate });
  });
  return () => {
    vi.unstubAllGlobals();
    ports?.port1.close();
  };
});

test("closing twice is closing once", async () => {
  const transport = await startWorker();
  transport.close();
  transport.close();
  expect(terminate).toHaveBeenCalledOnce();
});

test("a worker that gets stuck while it loads is an error that says so", async () => {
  const transport = await startWorker();
  vi.useFakeTimers();
  const connecting = EngineClient.connect({ ...transport, ping: () => new Promise(() => undefined) }, AT, {});
  const outcome = connecting.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(80_000);
  vi.useRealTimers();
  expect(await outcome).toMatchObject({ code: "worker_died" });
});

import { describe, expect, it, vi } from "vitest";

import type { LoadedEngine } from "../protocol/service.ts";
import { CARD, CONFIG, FakeSide, SIZES } from "../../tests/app/fake-side.ts";

describe("loading that is given up", () => {
  it("rejects with the signal's reason at once, and what is loaded all the same is disposed of", async () => {
    const side = new FakeSide();
    let finish: (loaded: LoadedEngine) => void = () => undefined;
    side.loaded = new Promise((resolve) => (finish = resolve));
    const abort = new AbortController();
    const connecting = side.connect(abort.signal);
    abort.abort(new Error("another model was chosen"));
    await expect(connecting).rejects.toThrow("another model was chosen");
    expect([side.isClosed, side.isDisposed]).toEqual([true, false]);
    finish({ model: CARD, config: CONFIG, sizes: SIZES });
    await expect.poll(() => side.isDisposed).toBe(true);
  });

  it("is not begun where it was given up before, and leaves an engine alone that is there", async () => {
    const side = new FakeSide();
    await expect(side.connect(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(side.isClosed).toBe(true);
    const abort = new AbortController();
    const other = new FakeSide();
    await other.connect(abort.signal);
    abort.abort();
    expect([other.isClosed, other.isDisposed]).toEqual([false, false]);
  });

  it("asks nothing more of a worker whose connection is closed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const side = new FakeSide();
    side.loaded = new Promise(() => undefined);
    side.ping = () => {
      // As Comlink does.
      if (side.isClosed) throw new Error("Proxy has been released and is not useable");
      return Promise.resolve();
    };
    const abort = new AbortController();
    const connecting = side.connect(abort.signal);
    abort.abort(new Error("another model was chosen"));
    await expect(connecting).rejects.toThrow("another model was chosen");
    await vi.advanceTimersByTimeAsync(20_000);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

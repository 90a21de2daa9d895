import { expect, it, vi } from "vitest";
import type { KvCacheMap } from "../../../protocol/reports.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { CacheMap } from "./cache-map.ts";

it("asks only while somebody looks, and only when something may have changed", async () => {
  const engine = new FakeEngine();
  const requested = vi.spyOn(engine, "kvCacheMap");
  const map = new CacheMap();
  map.watch(engine);
  const [before, after] = [{}, {}];
  await map.tick(before);
  expect(requested).toHaveBeenCalledTimes(0);
  const lookAway = map.watchWhileVisible();
  await map.tick(before);
  await map.tick(before);
  expect(requested).toHaveBeenCalledTimes(1);
  expect(map.store.getState()?.states).toHaveLength(engine.model.numGpuBlocks);
  await map.tick(after);
  expect(requested).toHaveBeenCalledTimes(2);
  lookAway();
  await map.tick(before);
  expect(requested).toHaveBeenCalledTimes(2);
});

it("does not ask again before the answer is there, and drops the answer of an engine that is gone", async () => {
  const engine = new FakeEngine();
  let answer: (map: KvCacheMap) => void = () => {};
  const requested = vi.spyOn(engine, "kvCacheMap").mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const map = new CacheMap();
  map.watch(engine);
  map.watchWhileVisible();
  const first = map.tick({});
  await map.tick({});
  expect(requested).toHaveBeenCalledTimes(1);
  map.watch(null);
  answer(await new FakeEngine().kvCacheMap());
  await first;
  expect(map.store.getState()).toBeNull();
});

it("tells the words that a block holds, and none of an empty one", async () => {
  const engine = new FakeEngine({ answer: () => "a b" });
  const map = new CacheMap();
  expect(await map.contentOf(0)).toBeNull();
  map.watch(engine);
  await engine.chat.completions.create({ messages: [{ role: "user", content: "Hi" }], stream: true });
  engine.step();
  const { sequences } = await engine.kvCacheMap();
  expect(await map.contentOf(0)).toEqual({ text: "word0", sequence: sequences[0], start: 0, numTokens: 1 });
  expect(await map.contentOf(1)).toBeNull();
});

import { afterEach, beforeEach, expect, test } from "vitest";

import { EngineClient } from "../client/engine-client.ts";
import type { ChorusEngine } from "../protocol/engine.ts";
import { FakeBackend } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import { EngineHost } from "./engine-host.ts";
import { textPortInPlace } from "./text/port-in-place.ts";
import type { TextPort } from "./text/text-calls.ts";

const FILES = [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name));
const NAMED = { prompt: "Hi", max_tokens: 4, ignore_eos: true, request_id: "mine" };
const refused = expect.objectContaining({ code: "invalid_value", param: "request_id" }) as unknown;

let engine: ChorusEngine;
/** Calls that the text thread has not begun with. */
let held: (() => void)[] | null;

/** A thread that begins with texts when the test lets it. */
function heldTexts(): TextPort {
  const port = textPortInPlace();
  return {
    ...port,
    post(message) {
      if (held === null || message.call.type !== "parse") port.post(message);
      else held.push(() => port.post(message));
    },
  };
}

function letGo(): void {
  for (const begin of held ?? []) begin();
  held = null;
}

beforeEach(async () => {
  held = [];
  const platform = fakePlatform([new FakeBackend("webgpu", "Fake GPU")], { openTextThread: heldTexts });
  const service = new EngineHost(platform);
  const transport = { service, died: new Promise<never>(() => undefined), close: () => undefined };
  engine = await EngineClient.connect(transport, { type: "files", files: FILES }, { logLevel: "silent" });
});
afterEach(() => engine.dispose());

test("a request's id is taken from when it is asked, before its text is tokens", async () => {
  const first = engine.completions.create(NAMED);
  await expect(engine.completions.create(NAMED)).rejects.toEqual(refused);
  const other = engine.completions.create({ ...NAMED, request_id: "yours" });
  letGo();
  expect((await first).id).toBe("cmpl-mine");
  expect((await other).id).toBe("cmpl-yours");
  expect((await engine.completions.create(NAMED)).id).toBe("cmpl-mine");
});

test("a request that is given up before its text is tokens leaves its id to others", async () => {
  const leaving = new AbortController();
  const first = engine.completions.create(NAMED, { signal: leaving.signal });
  leaving.abort(new Error("given up"));
  await expect(first).rejects.toThrow("given up");
  const second = engine.completions.create(NAMED);
  letGo();
  expect((await second).id).toBe("cmpl-mine");
});

test("a request that is refused leaves its id to others", async () => {
  const first = engine.completions.create({ ...NAMED, max_tokens: -1 });
  letGo();
  await expect(first).rejects.toMatchObject({ param: "max_tokens" });
  expect((await engine.completions.create(NAMED)).id).toBe("cmpl-mine");
});

test("the names of a request's further prompts are its own, too", async () => {
  letGo();
  const stream = await engine.completions.create({ ...NAMED, prompt: ["Hi", "Ho"], stream: true, max_tokens: 64 });
  await expect(engine.completions.create({ ...NAMED, request_id: "mine#1" })).rejects.toEqual(refused);
  for await (const { id } of stream) expect(id).toBe("cmpl-mine");
});

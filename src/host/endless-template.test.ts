import { expect, test } from "vitest";

import { EngineClient } from "../client/engine-client.ts";
import { FakeBackend } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import { EngineHost } from "./engine-host.ts";
import { textPortInPlace } from "./text/port-in-place.ts";
import type { TextCall, TextPort } from "./text/text-calls.ts";

const FILES = [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name));
const isChat = (call: TextCall) => call.type === "parse" && call.request.endpoint === "chat.completions";

/** A thread whose chats are never answered: their template goes round and round. */
function stuckInChats(): TextPort {
  const port = textPortInPlace();
  let isStuck = false;
  return {
    ...port,
    post(message) {
      isStuck ||= isChat(message.call);
      if (!isStuck) port.post(message);
    },
  };
}

test("while a chat's template goes on for ever, streams go on, and it can be given up", async () => {
  const platform = fakePlatform([new FakeBackend("webgpu", "Fake GPU")], { openTextThread: stuckInChats });
  const transport = {
    service: new EngineHost(platform),
    died: new Promise<never>(() => undefined),
    close: () => undefined,
  };
  await using engine = await EngineClient.connect(transport, { type: "files", files: FILES }, { logLevel: "silent" });
  const stream = await engine.completions.create({ prompt: "Hi", stream: true, max_tokens: 32, ignore_eos: true });
  const leaving = new AbortController();
  const messages = [{ role: "user" as const, content: "Hi" }];
  const endless = engine.chat.completions.create({ messages }, { signal: leaving.signal });
  let numChunks = 0;
  for await (const { choices } of stream) numChunks += choices.length;
  expect(numChunks).toBeGreaterThan(1);
  leaving.abort(new Error("given up"));
  await expect(endless).rejects.toThrow("given up");
  expect(await engine.stats()).toMatchObject({ num_requests_running: 0, num_requests_waiting: 0 });
});

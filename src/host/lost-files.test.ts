// A model's files may go away, change or be out of reach while it serves.

import { expect, test } from "vitest";

import { EngineClient } from "../client/engine-client.ts";
import { FakeBackend } from "../../tests/fakes/fake-backend.ts";
import { fakePlatform } from "../../tests/fakes/fake-platform.ts";
import { modelFiles } from "../../tests/models/model-folders.ts";
import { EngineHost } from "./engine-host.ts";
import { textPortInPlace } from "./text/port-in-place.ts";
import type { TextPort } from "./text/text-calls.ts";

/** A file that can't be read once it is gone. */
class LosableFile extends File {
  static isGone = false;

  override arrayBuffer(): Promise<ArrayBuffer> {
    if (LosableFile.isGone) return Promise.reject(new DOMException("It is gone.", "NotReadableError"));
    return super.arrayBuffer();
  }

  override slice(...range: Parameters<File["slice"]>): Blob {
    return new LosableFile([super.slice(...range)], this.name);
  }
}

/** How often a thread was opened. Each fails at a prompt of this name. */
let numOpened = 0;
const DEADLY = "deadly";
/** Whether threads can be started. */
let canStart = true;

function mortalTexts(): TextPort {
  numOpened += 1;
  const port = textPortInPlace();
  let fail: (reason: string) => void = () => undefined;
  return {
    ...port,
    post(message) {
      const isDeadly = message.call.type === "parse" && message.call.request.body.request_id === DEADLY;
      if (isDeadly || !canStart) setTimeout(() => fail("its memory is full"), 0);
      else port.post(message);
    },
    listen(onAnswer, onFailure, onClosed) {
      fail = onFailure;
      port.listen(onAnswer, onFailure, onClosed);
    },
  };
}

test("a text that ends its thread costs nobody else an answer, also where the model's files are gone", async () => {
  const platform = fakePlatform([new FakeBackend("webgpu", "Fake GPU")], { openTextThread: mortalTexts });
  const service = new EngineHost(platform);
  const transport = { service, died: new Promise<never>(() => undefined), close: () => undefined };
  const files = [...modelFiles()].map(([name, bytes]) => new LosableFile([bytes.slice()], name));
  await using engine = await EngineClient.connect(transport, { type: "files", files }, { logLevel: "silent" });
  const ask = (request_id: string) => engine.completions.create({ prompt: "Hi", max_tokens: 2, request_id });
  const health = async () => (await engine.fetch("http://chorus.test/health")).status;

  LosableFile.isGone = true;
  for (let i = 0; i < 3; i++) {
    await expect(ask(DEADLY)).rejects.toMatchObject({ code: "invalid_value", param: "prompt" });
    expect((await ask(`fine${i}`)).choices).toHaveLength(1);
  }
  // One more where the first thread ends before it has packed the model: that is then the call that it was at.
  expect(numOpened).toBeGreaterThanOrEqual(4);
  expect(await health()).toBe(200);

  canStart = false;
  await expect(ask(DEADLY)).rejects.toMatchObject({ code: "invalid_value" });
  await expect(ask("late")).rejects.toMatchObject({ code: "internal_error" });
  expect(await health()).toBe(503);
  canStart = true;
  expect((await ask("later")).choices).toHaveLength(1);
  expect(await health()).toBe(200);
});

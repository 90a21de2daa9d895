// A pattern and a template that take for ever, in a real worker. (They need no GPU, but a browser.)

import { expect, onTestFinished, test, vi } from "vitest";

import { openFileList } from "../../files/model-files.ts";
import { readTokenizer } from "../../files/tokenizer.ts";
import { createEngine } from "../../index.ts";
import { checkpointFiles } from "../../../tests/models/golden-answers.ts";
import { ownThreads } from "../../../tests/own-threads.ts";
import { ALIVE } from "../../threads/thread-port.ts";
import { browserPlatform } from "../platforms/browser.ts";
import { Texts, DEFAULT_TEXT_LIMITS } from "./texts.ts";

test("a text that takes for ever costs its own request, and others are answered meanwhile", async () => {
  const files = await Promise.all(
    (await checkpointFiles("model.safetensors")).map(async (file) => {
      if (file.name !== "tokenizer.json") return file;
      const json = JSON.parse(await file.text()) as Record<string, unknown>;
      const split = {
        type: "Split",
        pattern: { Regex: " * * * * * *x|[^ ]+| +" },
        behavior: "Isolated",
        invert: false,
      };
      json["pre_tokenizer"] = { type: "Sequence", pretokenizers: [split, json["pre_tokenizer"]] };
      return new File([JSON.stringify(json)], file.name);
    }),
  );
  await using engine = await createEngine({ model: files, worker: false, backend: "cpu", cpuThreads: 1 });
  const ask = (prompt: string | number[]) => engine.completions.create({ prompt, max_tokens: 8, temperature: 0 });
  const before = await ask("Once upon a time");
  // The worker's time is real. Here its limit is, in virtual time.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const endless = ask(" ".repeat(400)).catch((error: unknown) => error);
  await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
  expect((await engine.stats()).num_requests_running).toBe(0);
  const controller = new AbortController();
  const aborted = engine.completions.create({ prompt: "x" }, { signal: controller.signal }).catch(() => "aborted");
  controller.abort();
  expect(await aborted).toBe("aborted");
  await vi.advanceTimersByTimeAsync(DEFAULT_TEXT_LIMITS.requestMs + 1);
  expect(await endless).toMatchObject({ code: "invalid_value", param: "prompt" });
  vi.useRealTimers();
  expect((await ask("Once upon a time")).choices).toEqual(before.choices);
});

test("a thread says that it is there before it is asked anything", async () => {
  const { openTextThread, openGrammarThread } = browserPlatform({ gpu: undefined, threads: ownThreads() });
  for (const port of [openTextThread?.(), openGrammarThread?.()]) {
    const first = await new Promise((resolve, reject) => port?.listen(resolve, reject, () => undefined));
    expect(first).toBe(ALIVE);
    port?.end();
  }
});

test("a template that takes for ever costs its own chat, and the next one is answered", async () => {
  const loops = "{% for a in messages %}{% for b in messages %}{% for c in messages %}";
  const template = `${loops}${"{% endfor %}".repeat(3)}{{ messages[0].content }}`;
  const files = openFileList(await checkpointFiles("model.safetensors"), () => undefined);
  const tokenizer = { ...(await readTokenizer(files, [])), chatTemplate: template };
  const { openTextThread } = browserPlatform({ gpu: undefined, threads: ownThreads() });
  const texts = await Texts.open(
    openTextThread!,
    { tokenizer, frame: null },
    { ...DEFAULT_TEXT_LIMITS, requestMs: 1000 },
  );
  const chatOf = (numMessages: number) => ({
    messages: Array.from({ length: numMessages }, () => ({ role: "user" as const, content: "Hi" })),
  });
  // In virtual time, as above: a busy machine may take a second for a short chat.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const endless = texts.render(chatOf(3000)).catch((error: unknown) => error);
  const next = texts.render(chatOf(1));
  await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
  await vi.advanceTimersByTimeAsync(1001);
  expect(await endless).toMatchObject({ code: "invalid_value", param: "messages" });
  expect((await next).text).toBe("Hi");
  texts.dispose();
});

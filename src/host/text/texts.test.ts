// Texts become tokens in a thread that can be ended.

import { readFileSync } from "node:fs";

import { afterEach, expect, test, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGenerationDefaults } from "../../files/generation-config.ts";
import { openFileList } from "../../files/model-files.ts";
import { ModelTokenizer, readTokenizer, withoutEncoder } from "../../files/tokenizer.ts";
import { describeModel } from "../../models/families.ts";
import type { GenerationRequest } from "../../protocol/service.ts";
import { modelFiles } from "../../../tests/models/model-folders.ts";
import { answerCalls } from "../../threads/serve-thread.ts";
import { textPortInPlace } from "./port-in-place.ts";
import { UNSEEDED, type TextCall, type TextPort } from "./text-calls.ts";
import { TextService } from "./text-service.ts";
import { Texts, DEFAULT_TEXT_LIMITS, type TextLimits } from "./texts.ts";

/** Each space may begin a match in as many ways as there are spaces, to the fifth power. */
const SLOW = " * * * * *x|[^ ]+| +";

async function slowModel() {
  const json = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/tokenizer.json", "utf8")) as Record<string, unknown>;
  const split = { type: "Split", pattern: { Regex: SLOW }, behavior: "Isolated", invert: false };
  json["pre_tokenizer"] = { type: "Sequence", pretokenizers: [split, json["pre_tokenizer"]] };
  const parts = [...modelFiles()].map(([name, bytes]) => new File([bytes.slice()], name));
  const files = openFileList(
    parts.map((file) => (file.name === "tokenizer.json" ? new File([JSON.stringify(json)], file.name) : file)),
    () => undefined,
  );
  const described = describeModel(await files.readJson("config.json"));
  const defaults = await loadGenerationDefaults(files, described.eosTokenIds);
  const tokenizer = await readTokenizer(files, defaults.eosTokenIds);
  const limits = resolveEngineConfig({}, described.shape, { dtype: "f32" });
  const { vocabSize } = described.shape;
  const context = { modelName: "m", vocabSize, defaults, eosTokenIds: defaults.eosTokenIds, limits };
  return { tokenizer, context };
}

const { tokenizer, context } = await slowModel();

/** Threads in place. One that meets an endless call is silent from then on, until it is ended. */
class Threads {
  numOpened = 0;
  numEnded = 0;
  /** A call of this name kills its thread. */
  deadly = "";

  readonly open = (): TextPort => {
    this.numOpened += 1;
    const service = new TextService();
    let notify: Parameters<TextPort["listen"]>[0] = () => undefined;
    let fail: Parameters<TextPort["listen"]>[1] = () => undefined;
    let isStuck = false;
    const answer = (call: TextCall) => {
      if (nameOf(call) !== this.deadly) return service.answer(call);
      fail("its memory is full");
      return new Promise(() => undefined);
    };
    const take = answerCalls(answer, (reported) => notify(structuredClone(reported) as Parameters<typeof notify>[0]));
    return {
      post: (message) => {
        isStuck ||= nameOf(message.call) === "endless";
        const copy = structuredClone(message);
        if (!isStuck) setTimeout(() => take(copy), 0);
      },
      listen: (onAnswer, onFailure) => ([notify, fail] = [onAnswer, onFailure]),
      end: () => {
        this.numEnded += 1;
        notify = () => undefined;
      },
    };
  };
}

const nameOf = (call: TextCall) => (call.type === "parse" ? call.request.body.request_id : null);

const opened: Texts[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const texts of opened.splice(0)) texts.dispose();
});

async function textsOf(open: () => TextPort, limits: Partial<TextLimits> = {}): Promise<Texts> {
  const texts = await Texts.open(open, { tokenizer, frame: null }, { ...DEFAULT_TEXT_LIMITS, ...limits });
  opened.push(texts);
  return texts;
}

const completion = (prompt: string, fields = {}): GenerationRequest => ({
  endpoint: "completions",
  body: { prompt, max_tokens: 4, request_id: "r", ...fields },
});

test("a tokenizer without its encoder still knows the tokens' texts", () => {
  const twin = new ModelTokenizer(withoutEncoder(tokenizer));
  expect(twin.tokenText(300)).toBe(new ModelTokenizer(tokenizer).tokenText(300));
  expect(twin.vocabSize).toBe(new ModelTokenizer(tokenizer).vocabSize);
});

test("runs in place where no thread can be opened", async () => {
  let numTried = 0;
  const refused = () => {
    numTried += 1;
    throw new TypeError("the page's policy forbids it");
  };
  const texts = await textsOf(refused);
  expect((await texts.tokenize({ prompt: "one two" }, context)).tokens).not.toEqual([]);
  expect(numTried).toBe(1);
});

test("parses, renders and tokenizes as in place", async () => {
  const requests: GenerationRequest[] = [
    completion("one two"),
    completion("three", { seed: 9 }),
    completion("four", { logit_bias: { 3: 1 } }),
  ];
  const messages = [{ role: "user" as const, content: "Hi" }];
  const [isolated, inPlace] = await Promise.all(
    [new Threads().open, textPortInPlace].map(async (open) => {
      const texts = await textsOf(open);
      return {
        parsed: await Promise.all(requests.map((request) => texts.parse(request, context))),
        rendered: await texts.render({ messages }),
        tokenized: await texts.tokenize({ prompt: "one two" }, context),
        readsSystemPrompt: texts.readsSystemPrompt,
      };
    }),
  );
  expect(isolated).toEqual(inPlace);
  expect(isolated?.rendered.text).toContain("User: Hi");
  const [prompts] = isolated?.parsed.map((each) => each.prompts) ?? [];
  expect(isolated?.tokenized.tokens).toEqual(prompts?.[0]?.tokenIds);
  expect(isolated?.parsed.map((each) => each.prompts[0]?.params.seed)).toEqual([UNSEEDED, 9, UNSEEDED]);
});

test("says what is wrong with a request, as in place", async () => {
  const texts = await textsOf(new Threads().open);
  await expect(texts.parse(completion("x", { top_p: 7 }), context)).rejects.toMatchObject({ param: "top_p" });
  const unclear = texts.parse(completion("x", { stop: () => 1 }), context);
  await expect(unclear).rejects.toMatchObject({ code: "invalid_type", param: "stop" });
});

test("what comes together is posted together: nobody waits for another's answer to be read", async () => {
  const posted: (string | null | undefined)[] = [];
  const texts = await textsOf(() => {
    const port = new Threads().open();
    const post: TextPort["post"] = (message) => {
      posted.push(nameOf(message.call));
      port.post(message);
    };
    return { ...port, post };
  });
  const requested = ["a", "b", "c"].map((name) => texts.parse(completion("x", { request_id: name }), context));
  await Promise.resolve().then(() => undefined);
  await Promise.resolve();
  expect(posted).toEqual([null, null, "a", "b", "c"]); // its start, and packing the model
  await Promise.all(requested);
});

test("a text that takes for ever costs its own request; those behind it go on in order", async () => {
  const threads = new Threads();
  const texts = await textsOf(threads.open, { requestMs: 100 });
  await texts.parse(completion("x"), context);
  const order: string[] = [];
  const ask = (name: string, prompt: string) =>
    texts.parse(completion(prompt, { request_id: name }), context).finally(() => order.push(name));
  const [endless, ...others] = [ask("endless", "x"), ask("a", "y"), ask("b", "z")];
  await expect(endless).rejects.toMatchObject({ code: "invalid_value", param: "prompt" });
  await Promise.all(others);
  expect(order).toEqual(["endless", "a", "b"]);
  expect(threads).toMatchObject({ numOpened: 2, numEnded: 1 });
});

test("those behind a slow text go on in another thread while it takes its time", async () => {
  const threads = new Threads();
  const forever = { requestMs: 3_600_000, patienceMs: 20, maxSlow: 1 };
  const texts = await textsOf(threads.open, forever);
  const ask = (name: string) => texts.parse(completion("x", { request_id: name }), context);
  const slow = ask("endless").catch((error: unknown) => error);
  expect((await Promise.all(["a", "b"].map(ask))).map(({ requestId }) => requestId)).toEqual(["a", "b"]);
  // Only so many may be slow at once: its patience ends, and no thread takes its place.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const second = ask("endless").catch((error: unknown) => error);
  const waiting = ask("c").catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60);
  vi.useRealTimers();
  expect(threads).toMatchObject({ numOpened: 2, numEnded: 0 });
  texts.dispose();
  for (const one of [slow, second, waiting]) expect(await one).toMatchObject({ code: "engine_disposed" });
  expect(threads.numEnded).toBe(2);
});

test("a thread that was left to a slow text is ended once that is done", async () => {
  const threads = new Threads();
  const texts = await textsOf(threads.open, { requestMs: 200, patienceMs: 20 });
  const ask = (name: string) => texts.parse(completion("x", { request_id: name }), context);
  const slow = ask("endless").catch((error: unknown) => error);
  await ask("a");
  expect(await slow).toMatchObject({ code: "invalid_value", param: "prompt" });
  expect(threads).toMatchObject({ numOpened: 2, numEnded: 1 });
  await ask("b");
  expect(threads.numOpened).toBe(2);
});

test("a text that fills its thread's memory costs its own request", async () => {
  const threads = new Threads();
  threads.deadly = "huge";
  const texts = await textsOf(threads.open);
  const [huge, other] = ["huge", "a"].map((name) => texts.parse(completion("x", { request_id: name }), context));
  await expect(huge).rejects.toMatchObject({ code: "invalid_value", param: "prompt" });
  expect((await other)?.prompts).toHaveLength(1);
  expect(threads.numOpened).toBe(2);
});

test("a thread that takes another's place starts from compressed bytes, and tokenizes the same", async () => {
  const threads = new Threads();
  threads.deadly = "huge";
  const models: unknown[] = [];
  const texts = await textsOf(() => {
    const port = threads.open();
    const post: TextPort["post"] = (message) => {
      if (message.call.type === "start") models.push(message.call.model);
      port.post(message);
    };
    return { ...port, post };
  });
  const before = await texts.parse(completion("one two"), context);
  await expect(texts.parse(completion("x", { request_id: "huge" }), context)).rejects.toThrow("more memory");
  expect(await texts.parse(completion("one two"), context)).toEqual(before);
  const json = JSON.stringify(models[0]);
  expect(models).toEqual([{ tokenizer, frame: null }, expect.any(Uint8Array)]);
  expect((models[1] as Uint8Array).length).toBeLessThan(json.length);
});

test("without any thread everything runs in place", async () => {
  const refused = await textsOf(() => {
    throw new DOMException("not here", "SecurityError");
  });
  const missing = await textsOf(() => ({
    post: () => undefined,
    listen: (_, onFailure) => void setTimeout(() => onFailure("its worker could not be loaded"), 0),
    end: () => undefined,
  }));
  for (const texts of [refused, missing]) {
    expect((await texts.parse(completion("x"), context)).prompts).toHaveLength(1);
  }
});

test("a template that is none is told when the model is opened", async () => {
  const model = { tokenizer: { ...tokenizer, chatTemplate: "{% if %}" }, frame: null };
  const threads = new Threads();
  await expect(Texts.open(threads.open, model)).rejects.toMatchObject({ code: "model_invalid" });
  await expect.poll(() => threads.numEnded).toBe(1);
});

test("nothing waits once it is disposed of", async () => {
  const threads = new Threads();
  const texts = await textsOf(threads.open);
  const waiting = ["endless", "y"].map((name) => texts.parse(completion("x", { request_id: name }), context));
  texts.dispose();
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: "engine_disposed" });
  await expect(texts.parse(completion("z"), context)).rejects.toMatchObject({ code: "engine_disposed" });
  expect(threads.numOpened).toBe(1);
});

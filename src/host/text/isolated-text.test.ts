// A tokenizer whose patterns are the model's own: its texts are tokenized in a thread that can be ended.

import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGenerationDefaults } from "../../files/generation-config.ts";
import { openFileList } from "../../files/model-files.ts";
import { mayTakeForEver, ModelTokenizer, readTokenizer, withoutEncoder } from "../../files/tokenizer.ts";
import { createChatFormat } from "../../api/chat-format.ts";
import { describeModel } from "../../models/families.ts";
import { modelFiles } from "../../testing/models/model-folders.ts";
import { seedSequence } from "../seeds.ts";
import { IsolatedText, USUAL_TEXT_LIMITS, type TextLimits } from "./isolated-text.ts";
import { parse } from "./parse.ts";
import type { TextCall, TextPort } from "./text-calls.ts";
import { TextService } from "./text-service.ts";

/** Each space may begin a match in as many ways as there are spaces, to the fifth power. */
const SLOW = " * * * * *x|[^ ]+| +";

async function slowModel() {
  const json = JSON.parse(readFileSync("fixtures/gpt2-tiny/tokenizer.json", "utf8")) as Record<string, unknown>;
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
  return { tokenizer, frame: null, context };
}

const model = await slowModel();

/** Threads in place. One that meets an endless call is silent from then on, until it is ended. */
class Threads {
  numOpened = 0;
  numEnded = 0;

  readonly open = (): TextPort => {
    this.numOpened += 1;
    const service = new TextService();
    let tell: Parameters<TextPort["listen"]>[0] = () => undefined;
    let isStuck = false;
    return {
      post: (call) => {
        isStuck ||= isEndless(call);
        if (!isStuck) setTimeout(() => tell(structuredClone(service.answer(structuredClone(call)))), 0);
      },
      listen: (onAnswer) => (tell = onAnswer),
      end: () => {
        this.numEnded += 1;
        tell = () => undefined;
      },
    };
  };
}

const isEndless = (call: TextCall) => call.type === "parse" && call.request.body.request_id === "endless";

const opened: IsolatedText[] = [];
afterEach(() => {
  for (const texts of opened.splice(0)) texts.dispose();
});

function textsOf(threads: Threads, limits: Partial<TextLimits> = {}): IsolatedText {
  const texts = new IsolatedText(model, threads.open, seedSequence(5), { ...USUAL_TEXT_LIMITS, ...limits });
  opened.push(texts);
  return texts;
}

const completion = (prompt: string, fields = {}) =>
  ({ endpoint: "completions", body: { prompt, max_tokens: 4, request_id: "r", ...fields } }) as const;

test("tells which tokenizers may take for ever, and their twin without patterns can still write", () => {
  expect(mayTakeForEver(model.tokenizer)).toBe(true);
  const quick = { ...model.tokenizer.json, pre_tokenizer: { type: "ByteLevel" } };
  expect(mayTakeForEver({ ...model.tokenizer, json: quick })).toBe(false);
  const doubling = { type: "Replace", pattern: { String: "a" }, content: "aaaaaaaa" };
  expect(mayTakeForEver({ ...model.tokenizer, json: { ...quick, normalizer: doubling } })).toBe(true);
  const twin = new ModelTokenizer(withoutEncoder(model.tokenizer));
  expect(twin.tokenText(300)).toBe(new ModelTokenizer(model.tokenizer).tokenText(300));
});

test("parses as in place, with the same seeds", async () => {
  const texts = textsOf(new Threads());
  const tokenizer = new ModelTokenizer(model.tokenizer);
  const context = { ...model.context, tokenizer, chatFormat: createChatFormat(tokenizer), nextSeed: seedSequence(5) };
  const requests = [
    completion("one two"),
    completion("three", { seed: 9 }),
    completion("four", { logit_bias: { 3: 1 } }),
  ];
  const isolated = await Promise.all(requests.map((request) => texts.parse(request)));
  expect(isolated).toEqual(requests.map((request) => parse(request, context)));
  const chat = { messages: [{ role: "user", content: "Hi" }] } as const;
  expect((await texts.render({ messages: [...chat.messages] })).text).toContain("User: Hi");
  expect((await texts.tokenize({ prompt: "one two" })).count).toBe(isolated[0]?.prompts[0]?.tokenIds.length);
});

test("says what is wrong with a request, as in place", async () => {
  const texts = textsOf(new Threads());
  await expect(texts.parse(completion("x", { top_p: 7 }))).rejects.toMatchObject({ param: "top_p" });
});

test("a text that takes for ever costs its own request; those behind it go on in order", async () => {
  const threads = new Threads();
  const texts = textsOf(threads, { requestMs: 100 });
  await texts.parse(completion("x"));
  const order: string[] = [];
  const ask = (name: string, prompt: string) =>
    texts.parse(completion(prompt, { request_id: name })).finally(() => order.push(name));
  const [endless, ...others] = [ask("endless", "x"), ask("a", "y"), ask("b", "z")];
  await expect(endless).rejects.toMatchObject({ code: "invalid_value", param: "prompt" });
  await Promise.all(others);
  expect(order).toEqual(["endless", "a", "b"]);
  expect(threads).toMatchObject({ numOpened: 2, numEnded: 1 });
});

test("nothing waits once it is disposed of", async () => {
  const threads = new Threads();
  const texts = textsOf(threads);
  const waiting = [texts.parse(completion("x", { request_id: "endless" })), texts.parse(completion("y"))];
  texts.dispose();
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: "engine_disposed" });
  await expect(texts.parse(completion("z"))).rejects.toMatchObject({ code: "engine_disposed" });
  expect(threads.numOpened).toBe(1);
});

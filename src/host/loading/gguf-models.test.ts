// Models in GGUF files beside their golden values: config, weights, tokens and chats.

import { readFileSync, readdirSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";
import { createChatFormat } from "../../api/chat-format.ts";
import type { ChatMessage } from "../../protocol/openai.ts";
import { openCheckpoint } from "../../files/open-checkpoint.ts";
import { openFileList } from "../../files/model-files.ts";
import { GgufFolder } from "../../files/gguf/gguf-folder.ts";
import { loadGenerationDefaults } from "../../files/generation-config.ts";
import { loadTokenizer } from "../../files/tokenizer.ts";
import { readF32 } from "../../files/tensor.ts";
import { configOfGguf } from "../../models/config-of-gguf.ts";
import { describeModel } from "../../models/families.ts";
import { openWeights } from "../../models/model-weights.ts";
import { cpuBackend } from "../../backends/cpu/cpu-backend.ts";
import type { CpuRunner } from "../../backends/cpu/cpu-runner.ts";
import { allowRelaxedSimd, expectNear } from "../../../tests/cpu/cpu.ts";
import { greedyTokens } from "../../../tests/gpu/runner-runs.ts";
import { configFor } from "./config-for.ts";

allowRelaxedSimd();

const FOLDER = "tests/fixtures/gguf";
const SETS = ["llama-mix", "qwen3-q8", "gemma3-q4", "gpt2-q5", "llama3-rope", "qwen2-small", "llama2-spm"];

interface TensorRef {
  readonly off: number;
  readonly shape: readonly number[];
}

interface Golden {
  readonly file: string;
  readonly tensors: readonly { readonly name: string; readonly type: string; readonly sha256_f32: string }[];
  readonly prompts: readonly {
    readonly text: string;
    readonly ids: number[];
    readonly last_logits: TensorRef;
    readonly llama_cpp: { readonly last_logits: TensorRef };
    readonly greedy: { readonly tokens: readonly number[] };
  }[];
  readonly texts: readonly { readonly text: string; readonly ids: number[]; readonly plain_ids?: number[] }[];
  readonly chats: readonly {
    readonly messages: ChatMessage[];
    readonly chat_template_kwargs?: Record<string, unknown>;
    readonly ids: number[];
  }[];
  readonly tokenizer: { readonly stops: number[]; readonly add_bos: boolean; readonly bos: number };
}

const read = (path: string) => new Uint8Array(readFileSync(`${FOLDER}/${path}`));
const fileOf = (path: string) => new File([read(path)], path.split("/").at(-1) ?? path);
const json = (path: string) => JSON.parse(readFileSync(`${FOLDER}/${path}`, "utf8")) as unknown;

function openGguf(...paths: string[]): GgufFolder {
  const files = paths.map(fileOf);
  return new GgufFolder(openFileList(files), files[0]?.name ?? "", configOfGguf);
}

async function open(files: GgufFolder) {
  const config = await files.readJson("config.json");
  const weights = openWeights(await openCheckpoint(files), (vocabSize) => describeModel(config, vocabSize));
  const { eosTokenIds } = await loadGenerationDefaults(files, []);
  return { weights, tokenizer: await loadTokenizer(files, eosTokenIds) };
}

describe.each(SETS)("%s", (set) => {
  const golden = json(`${set}/golden.json`) as Golden;
  const floats = new Float32Array(read(`${set}/golden.f32`).buffer);
  const opening = open(openGguf(`${set}/${golden.file}`));

  test("its logits are the golden ones", async () => {
    const { weights } = await opening;
    for (const {
      ids,
      last_logits: { off, shape },
    } of golden.prompts.slice(0, 2)) {
      const logits = await lastLogitsReference(weights, ids);
      const expected = floats.subarray(off, off + (shape[0] ?? 0));
      const error = Math.max(...expected.map((value, i) => Math.abs(value - (logits[i] ?? NaN))));
      expect(error).toBeLessThan(1e-4);
    }
  });

  // llama.cpp rounds activations to integers of 8 bits, too. The models are small and random.
  test.each(["f32", "int8"] as const)(
    "packed as stored, activations in %s, it has the golden logits on the CPU",
    async (activationDtype) => {
      const { weights } = await opening;
      const sizes = { maxNumSeqs: 4, maxNumBatchedTokens: 256, kvCacheDtype: "f32", numGpuBlocks: 64 } as const;
      const engine = configFor(weights.model, { activationDtype, ...sizes }, null);
      expect(engine).toMatchObject({ dtype: "stored", activationDtype });
      const backend = await cpuBackend({ most: 1, openHelper: null }).open();
      const runner = (await backend.load({ weights, engine })) as CpuRunner;
      const logitsAt = ({ off, shape }: TensorRef) => floats.subarray(off, off + (shape[0] ?? 0));
      const worstOf = (one: Float32Array, other: Float32Array) =>
        one.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (other[i] ?? NaN))), 0);
      const rounding = golden.prompts.map((prompt) =>
        worstOf(logitsAt(prompt.llama_cpp.last_logits), logitsAt(prompt.last_logits)),
      );
      const tolerance = activationDtype === "f32" ? 1e-3 : 2 * Math.max(...rounding);
      for (const { ids, last_logits: last, greedy } of golden.prompts) {
        await greedyTokens(runner, ids, 1);
        expectNear(runner.logits[0] ?? [], logitsAt(last), tolerance);
        if (activationDtype === "f32")
          expect(await greedyTokens(runner, ids, greedy.tokens.length)).toEqual(greedy.tokens);
      }
      runner.dispose();
    },
  );

  test("its texts have the golden tokens", async () => {
    const { tokenizer } = await opening;
    for (const { text, ids, plain_ids: plain = ids } of golden.texts) {
      expect(tokenizer.encode(text), text).toEqual(ids);
      // Tags are control tokens here, so that no message can forge them.
      if (!text.includes("<think>")) expect(tokenizer.encodePlain(text), text).toEqual(plain);
    }
    for (const { text, ids } of golden.prompts) {
      expect([...tokenizer.specialTokens.before, ...tokenizer.encode(text)], text).toEqual(ids);
    }
    expect(tokenizer.eosTokenIds.toSorted((a, b) => a - b)).toEqual(golden.tokenizer.stops);
  });

  test("its chats have the golden tokens", async () => {
    const format = createChatFormat((await opening).tokenizer);
    for (const { messages, chat_template_kwargs: variables = {}, ids } of golden.chats) {
      expect(format.open(messages, { variables }).tokenIds).toEqual(ids);
    }
  });

  test("its tensors have the golden values", async () => {
    const gguf = await openGguf(`${set}/${golden.file}`).openOwnCheckpoint();
    for (const { name, sha256_f32: expected } of golden.tensors) {
      const values = await readF32(gguf.tensor(name));
      const digest = await crypto.subtle.digest("SHA-256", values);
      expect(Buffer.from(digest).toString("hex"), name).toBe(expected);
    }
  });
});

test("a split file is the whole one", async () => {
  const parts = readdirSync(`${FOLDER}/qwen3-q8-split`)
    .filter((name) => name.endsWith(".gguf"))
    .sort();
  const split = await openGguf(...parts.map((name) => `qwen3-q8-split/${name}`)).openOwnCheckpoint();
  const whole = await openGguf("qwen3-q8/qwen3-q8.gguf").openOwnCheckpoint();
  expect(split.names().sort()).toEqual(whole.names().sort());
  for (const name of whole.names()) {
    expect(await readF32(split.tensor(name)), name).toEqual(await readF32(whole.tensor(name)));
  }
});

interface Bad {
  readonly file: string;
  readonly code: string;
  readonly names?: readonly string[];
  readonly names_one_of?: readonly string[];
  readonly or_loads?: boolean;
}

const { files: bad } = json("bad/index.json") as { readonly files: readonly Bad[] };

test.each(bad)("$file is refused", async ({ file, code, names = [], names_one_of: oneOf = [], or_loads: orLoads }) => {
  const failed = await open(openGguf(`bad/${file}`)).then(
    () => null,
    (error: unknown) => error as Error,
  );
  if (failed === null && orLoads) return;
  expect(failed).toMatchObject({ code });
  for (const name of names) expect(failed?.message).toContain(name);
  if (oneOf.length > 0)
    expect(
      oneOf.some((name) => failed?.message.includes(name)),
      failed?.message,
    ).toBe(true);
});

test("the file that the damaged ones were made from loads", async () => {
  await open(openGguf("bad/sound.gguf"));
});

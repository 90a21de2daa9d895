// The way of a GGUF model to an answer: from a hub by the names that people give it, from a host, from the user's files.

import { readFileSync, readdirSync } from "node:fs";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { cpuBackend } from "../backends/cpu/cpu-backend.ts";
import { EngineClient } from "../client/engine-client.ts";
import { HttpClient } from "../files/hub/http-client.ts";
import { ModelStore } from "../files/store/model-store.ts";
import { describeModel } from "../models/families.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { locateModel, type ModelLocation, type RemoteLocation } from "../protocol/model-source.ts";
import { allowRelaxedSimd } from "../../tests/cpu/cpu.ts";
import { memoryFolder } from "../../tests/fakes/memory-folder.ts";
import { ModelServer } from "../../tests/fakes/model-server.ts";
import { EngineHost } from "./engine-host.ts";
import { asFolder } from "./loading/gguf-as-folder.ts";
import { ModelsHost } from "./models-host.ts";
import type { Platform } from "./platforms/platform.ts";
import { memoryTuningStore } from "./platforms/tuning-store.ts";

allowRelaxedSimd();
const FOLDER = "tests/fixtures/gguf";
const ID = "tiny/qwen3-GGUF";
const read = (path: string) => new Uint8Array(readFileSync(`${FOLDER}/${path}`));
const Q8 = read("qwen3-q8/qwen3-q8.gguf");

interface Golden {
  readonly prompts: readonly {
    readonly ids: number[];
    readonly greedy: { readonly tokens: number[] };
  }[];
}
const goldenOf = (set: string) => JSON.parse(readFileSync(`${FOLDER}/${set}/golden.json`, "utf8")) as Golden;

let server: ModelServer;
const root = memoryFolder({ freeBytes: Infinity });
beforeEach(async () => {
  server = await ModelServer.start();
});
afterEach(() => server.close());

function openPage(stored = true): Platform {
  const openModelStore = (http = new HttpClient({})) =>
    Promise.resolve(stored ? new ModelStore({ root, http, describeModel, asFolder }) : null);
  const cpu = cpuBackend({ most: 1, openHelper: null });
  return {
    backends: [{ name: "cpu", load: () => Promise.resolve(cpu) }],
    tuning: memoryTuningStore(),
    reference: null,
    runtime: "test",
    openGrammarThread: null,
    openTextThread: null,
    openModelStore,
    now: () => performance.now(),
  };
}

/** Loads a model, asks it what the golden file asks, and returns its name. */
async function answersAsGolden(location: ModelLocation, set: string, platform = openPage()): Promise<string> {
  const transport = {
    service: new EngineHost(platform),
    died: new Promise<never>(() => undefined),
    close: () => undefined,
  };
  await using engine = await EngineClient.connect(transport, location, {
    dtype: "f32",
    numGpuBlocks: 64,
    maxNumSeqs: 5,
  });
  const answers = goldenOf(set).prompts.map(async ({ ids, greedy }) => {
    const options = { prompt: ids, max_tokens: 24, temperature: 0, ignore_eos: true, return_token_ids: true } as const;
    const { choices } = await engine.completions.create(options);
    expect(choices[0]?.token_ids).toEqual(greedy.tokens);
  });
  await Promise.all(answers);
  return engine.model.name;
}

const at = (model: string): RemoteLocation =>
  locateModel(model, { hubUrl: server.url.slice(0, -1) }, server.url) as RemoteLocation;

describe("on a hub", () => {
  beforeEach(() => {
    const others = [["README.md", new Uint8Array([35])]] as const;
    const files = ["tiny-Q2_K.gguf", "tiny-Q8_0.gguf", "deep/tiny-F16.gguf", "tiny-IQ2_XXS.gguf"].map(
      (name) => [name, Q8] as const,
    );
    const parts = readdirSync(`${FOLDER}/qwen3-q8-split`)
      .filter((name) => name.endsWith(".gguf"))
      .map((name) => [name, read(`qwen3-q8-split/${name}`)] as const);
    server.serveAsHub(ID, new Map([...others, ...files, ...parts]));
  });

  test.each([
    [ID, "tiny-Q8_0"],
    [`${ID}:Q2_K`, "tiny-Q2_K"],
    [`${ID}/deep/tiny-F16.gguf`, "tiny-F16"],
    [`${ID}/qwen3-q8-00001-of-00002.gguf`, "qwen3-q8"],
  ])("%s is %s, kept beside the others, and answers without the hub", async (name, label) => {
    const location = at(name);
    expect(await answersAsGolden(location, "qwen3-q8")).toBe(label);
    const stored = await new ModelsHost(openPage()).list();
    expect(stored).toEqual(expect.arrayContaining([expect.objectContaining({ model: name })]));
    server.files.clear();
    server.interfere = (_, response) => {
      response.destroy();
      return true;
    };
    expect(await answersAsGolden(location, "qwen3-q8")).toBe(label);
  });

  test("nothing of the weights is fetched for an estimate, or for a name that is not there", async () => {
    const estimate = await new ModelsHost(openPage()).estimate(at(`${ID}:F16`), {});
    const ggufModels = ["F16", "Q2_K", "Q8_0"].map((quantisation) => {
      return { model: `${ID}:${quantisation}`, quantisation, downloadBytes: Q8.length, problem: null };
    });
    expect(estimate).toMatchObject({ downloadBytes: Q8.length, problem: null });
    expect(estimate.ggufModels).toEqual(expect.arrayContaining(ggufModels));
    const problems = async (config: EngineConfig) => {
      const { ggufModels: all } = await new ModelsHost(openPage()).estimate(at(`${ID}:F16`), config);
      return Object.fromEntries(all.map(({ quantisation, problem }) => [quantisation, problem?.code]));
    };
    const notRead = { IQ2_XXS: "model_unsupported" };
    expect(await problems({ dtype: "f16" })).toMatchObject({ F16: undefined, Q2_K: undefined, ...notRead });
    const tooLarge = "out_of_memory";
    expect(await problems({ kvCacheBytes: 2 ** 33 })).toMatchObject({ F16: tooLarge, Q2_K: tooLarge, ...notRead });
    await expect(new ModelsHost(openPage()).estimate(at(`${ID}:Q5_K_M`), {})).rejects.toMatchObject({
      code: "model_not_found",
      message: expect.stringContaining("Q2_K, Q8_0, F16"),
    });
  });
});

test("on a host, and from the user's files", async () => {
  server.files.set("m/tiny.gguf", Q8);
  expect(await answersAsGolden(at("m/tiny.gguf"), "qwen3-q8", openPage(false))).toBe("tiny");
  const file = new File([read("gpt2-q5/gpt2-q5.gguf")], "gpt2-q5.gguf");
  expect(await answersAsGolden(locateModel(file), "gpt2-q5")).toBe("gpt2-q5");
});

test.each(["llama-mix", "gemma3-q4", "llama3-rope", "qwen2-small", "llama2-spm"])(
  "%s answers as its golden file",
  async (set) => {
    const name = readdirSync(`${FOLDER}/${set}`).find((file) => file.endsWith(".gguf")) ?? "";
    await answersAsGolden({ type: "files", files: [new File([read(`${set}/${name}`)], name)] }, set);
  },
);

test("a file of few bits is loaded where it is the one that is given", async () => {
  const file = new File([Q8], "tiny-Q2_K.gguf");
  expect(await answersAsGolden(locateModel([file]), "qwen3-q8")).toBe("tiny-Q2_K");
});

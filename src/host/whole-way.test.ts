// The way of a model from a hub to an answer: download, pause, go on, load in two dtypes, chat, and all of it again without
// the server. With random weights of SmolLM2-135M's widths and heads, in one layer of 30 and with a twelfth of its tokens, so
// that it takes seconds. CHORUS_WHOLE_MODEL=1 takes the whole model, and minutes.

import { afterAll, beforeAll, expect, test } from "vitest";

import { cpuBackend } from "../backends/cpu/cpu-backend.ts";
import { MODEL_SIZES } from "../../lab/model/model-sizes.ts";
import { makeRandomModel } from "../../lab/model/random-model.ts";
import { EngineClient } from "../client/engine-client.ts";
import { HttpClient } from "../files/hub/http-client.ts";
import { ModelStore } from "../files/store/model-store.ts";
import { asFolder } from "./loading/gguf-as-folder.ts";
import { describeModel } from "../models/families.ts";
import type { WeightsDtype } from "../protocol/config.ts";
import type { HubLocation } from "../protocol/model-source.ts";
import { asciiTokenizer } from "../../tests/models/ascii-tokenizer.ts";
import { allowRelaxedSimd } from "../../tests/cpu/cpu.ts";
import { memoryFolder, type MemoryDisk } from "../../tests/fakes/memory-folder.ts";
import { ModelServer } from "../../tests/fakes/model-server.ts";
import { EngineHost } from "./engine-host.ts";
import { ModelsHost } from "./models-host.ts";
import type { Platform } from "./platforms/platform.ts";
import { memoryTuningStore } from "./platforms/tuning-store.ts";

allowRelaxedSimd();
const ID = "HuggingFaceTB/SmolLM2-135M-Instruct";
const WEIGHTS = "model.safetensors";
const { config: CONFIG, vocabSize: NUM_TOKENS } = MODEL_SIZES["smollm2-135m"];
const isWhole = process.env["CHORUS_WHOLE_MODEL"] === "1";
const numLayers = isWhole ? CONFIG.num_hidden_layers : 1;
const vocabSize = isWhole ? NUM_TOKENS : 4096;
const CHATML =
  "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}\n{% endfor %}" +
  "{% if add_generation_prompt %}<|assistant|>{% endif %}";

let server: ModelServer;
let location: HubLocation;
let weightBytes: number;
const disk: MemoryDisk = { freeBytes: Infinity };
const root = memoryFolder(disk);

beforeAll(async () => {
  server = await ModelServer.start();
  location = { type: "hub", id: ID, revision: "main", hubUrl: server.url.slice(0, -1), token: null };
  const [configFile, , weights] = makeRandomModel(
    { config: { ...CONFIG, num_hidden_layers: numLayers }, vocabSize },
    1,
  );
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const bytesOf = async (file = new File([], "")) => new Uint8Array(await file.arrayBuffer());
  const files = new Map([
    ["config.json", await bytesOf(configFile)],
    ["tokenizer.json", json(asciiTokenizer(vocabSize))],
    ["tokenizer_config.json", json({ chat_template: CHATML, eos_token: "<|endoftext|>" })],
    [WEIGHTS, await bytesOf(weights)],
  ]);
  weightBytes = files.get(WEIGHTS)!.length;
  server.serveAsHub(ID, files);
});
afterAll(() => server.close());

/** A page that is opened anew, with what the pages before it have stored. */
function openPage(): Platform {
  const openModelStore = (http = new HttpClient({})) =>
    Promise.resolve(
      new ModelStore({ root, http, describeModel, asFolder, freeBytes: () => Promise.resolve(disk.freeBytes) }),
    );
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

async function chat(dtype: WeightsDtype): Promise<string> {
  const transport = {
    service: new EngineHost(openPage()),
    died: new Promise<never>(() => undefined),
    close: () => undefined,
  };
  const config = { dtype, seed: 1, maxModelLen: 256, numGpuBlocks: 64, maxNumSeqs: 2 };
  await using engine = await EngineClient.connect(transport, location, config);
  expect(engine.model).toMatchObject({ name: ID.split("/")[1], dtype, chat: true, vocabSize, numLayers });
  const messages = [{ role: "user" as const, content: "What is a page?" }];
  const { choices, usage } = await engine.chat.completions.create({ messages, max_tokens: 4, temperature: 0 });
  expect(usage.completion_tokens).toBe(4);
  return choices[0]?.message.content ?? "";
}

test("downloaded, paused, gone on with, and answered from as q8 and as q4, with the server and without", async () => {
  const paused = new ModelsHost(openPage());
  disk.onWrite = (written) => {
    if (written > weightBytes / 2) paused.cancelDownload();
  };
  await expect(paused.download(location, () => undefined)).rejects.toThrow("aborted");
  delete disk.onWrite;
  const requestedBefore = server.bytesRequested(`${ID}/resolve/c0ffee0/${WEIGHTS}`);
  await new ModelsHost(openPage()).download(location, () => undefined);
  // What had arrived is not asked for again.
  const requested = server.bytesRequested(`${ID}/resolve/c0ffee0/${WEIGHTS}`) - requestedBefore;
  expect(requested).toBeLessThan(0.6 * weightBytes);

  const numRequests = server.requested.length;
  const online = await chat("q8");
  expect(online).not.toBe("");
  server.interfere = (_, response) => {
    response.destroy();
    return true;
  };
  expect(await chat("q8")).toBe(online);
  expect(await chat("q4")).not.toBe("");
  expect(server.requested).toHaveLength(numRequests);
});

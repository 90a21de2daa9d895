// A draft model beside a model: what a page gives and gets. On the CPU, in Node.

import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { createEngine } from "../../index.ts";
import { withAbsoluteDraft } from "../../protocol/model-source.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";

allowRelaxedSimd();

function filesOf(fixture: string, changes: Record<string, (text: string) => string> = {}): File[] {
  return ["config.json", "tokenizer.json", "model.safetensors"].map((name) => {
    const bytes = readFileSync(`tests/fixtures/${fixture}/${name}`);
    return new File([changes[name]?.(bytes.toString()) ?? bytes], name);
  });
}

function withHalfOfItsWeights(files: File[]): File[] {
  return files.map((file) =>
    file.name === "model.safetensors" ? new File([file.slice(0, file.size / 2)], file.name) : file,
  );
}

const target = filesOf("qwen3-tiny");
const create = (draft: unknown, tokens?: number) => {
  const speculation = { method: "draft_model", model: draft, num_speculative_tokens: tokens } as never;
  return createEngine({ model: target, worker: false, backend: "cpu", cpuThreads: 1, seed: 1, speculation });
};

describe("a response says how many drafted tokens came", () => {
  const request = { prompt: [3, 1, 4, 1, 5], max_tokens: 17, ignore_eos: true, temperature: 1, seed: 7 };

  it.each([
    ["qwen3-tiny", { accepted_prediction_tokens: 12, rejected_prediction_tokens: 0 }],
    ["llama-tiny/tied", { accepted_prediction_tokens: 0, rejected_prediction_tokens: 12 }],
  ])("drafts by %s", async (fixture, details) => {
    await using engine = await create(filesOf(fixture), 3);
    const { usage } = await engine.completions.create(request);
    expect(usage).toMatchObject({ completion_tokens: 17, completion_tokens_details: details });
    const text = await engine.metrics();
    expect(text).toMatch(/spec_decode_num_draft_tokens_total\{[^}]*\} 12\n/);
    expect(text).toMatch(/request_draft_acceptance_count\{[^}]*\} 1\n/);
  });
});

describe("a draft model is refused by name", () => {
  const otherToken = (text: string) => text.replace(/"vocab":\s*\{\s*"([^"\\])":/, '"vocab": {"$1$1$1$1":');

  it.each([
    ["other tokens", filesOf("llama-tiny/tied", { "tokenizer.json": otherToken }), "model_unsupported", /as token/],
    [
      "another kind of model",
      filesOf("llama-tiny/tied", { "config.json": () => "{}" }),
      "model_unsupported",
      /^The draft model: .*config/s,
    ],
    ["weights that break off", withHalfOfItsWeights(filesOf("llama-tiny/tied")), "model_invalid", /^The draft model: /],
    ["a number", 5, "invalid_type", /^speculation\.model must be/],
    ["nothing", undefined, "missing_required_parameter", /^speculation\.model is missing/],
  ])("%s", async (_, draft, code, message) => {
    await expect(create(draft)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

it("isn't downloaded for a model that is refused", async () => {
  const files = new Map<string, Blob>();
  for (const file of filesOf("llama-tiny/tied")) files.set(`/draft/${file.name}`, file);
  for (const file of target) files.set(`/damaged/${file.name}`, file);
  const weights = new Uint8Array((await files.get("/damaged/model.safetensors")?.arrayBuffer()) ?? []);
  const headerBytes = 8 + Number(new DataView(weights.buffer).getBigUint64(0, true));
  files.set("/damaged/model.safetensors", new Blob([weights.fill(0x7f, headerBytes)]));
  const requested: string[] = [];
  vi.stubGlobal("fetch", async (input: string, { signal }: { signal: AbortSignal }) => {
    const { pathname } = new URL(input);
    requested.push(pathname);
    // It ends with the load, as a browser's does: nothing goes on in the next test.
    const body = (files.get(pathname) ?? new Blob()).stream().pipeThrough(new TransformStream(), { signal });
    return new Response(body, { status: files.has(pathname) ? 200 : 404 });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const speculation = { method: "draft_model", model: "https://a.example/draft/" } as never;
  const model = "https://a.example/damaged/";
  const creating = createEngine({ model, worker: false, backend: "cpu", cpuThreads: 1, speculation });
  await expect(creating).rejects.toMatchObject({ code: "model_invalid" });
  expect(requested).toContain("/draft/config.json");
  expect(requested).not.toContain("/draft/model.safetensors");
});

it("its folder is relative to the page", () => {
  const base = "https://page.example/app/";
  const sent = (model: string) =>
    withAbsoluteDraft({ speculation: { method: "draft_model", model } }, base).speculation;
  expect(sent("./models/small/")).toMatchObject({ model: "https://page.example/app/models/small/" });
  expect(sent("owner/small")).toMatchObject({ model: "owner/small" });
});

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { createEngine } from "../../index.ts";
import type { GoldenPrompt } from "../../../tests/models/golden.ts";
import { BEAM_CONFIG, beamRunsOf, itFindsRuns, search } from "../../../tests/requests/beam-search.ts";

const read = (name: string) => readFileSync(`tests/fixtures/gpt2-tiny/${name}`);
const model = ["config.json", "tokenizer.json", "model.safetensors"].map((name) => new File([read(name)], name));
const options = { backend: "cpu", worker: false, cpuThreads: 1, model, ...BEAM_CONFIG } as const;
const { prompts } = JSON.parse(read("golden.json").toString()) as { prompts: GoldenPrompt[] };
const RUNS = beamRunsOf(prompts);

it("there are runs", () => expect(RUNS).toHaveLength(45));

itFindsRuns(RUNS, options, 6);

it("streams its answers when they are found", async () => {
  await using engine = await createEngine(options);
  const run = RUNS[4];
  if (!run) throw new Error("no run");
  const whole = await search(engine, run);
  const texts = whole.map(() => "");
  const request = { prompt: run.ids, use_beam_search: true, n: 4, length_penalty: run.length_penalty };
  const rest = { max_tokens: 16, ignore_eos: true, stop_token_ids: [run.eos_token_id ?? 0] };
  const scores: unknown[] = [];
  for await (const { choices } of await engine.completions.create({ ...request, ...rest, stream: true })) {
    for (const { index, text, finish_reason, beam_score } of choices) {
      texts[index] += text;
      if (finish_reason !== null) scores[index] = beam_score;
    }
  }
  expect(texts).toEqual(whole.map(({ text }) => text));
  expect(scores).toEqual(whole.map(({ beam_score }) => beam_score));
});

it("says what would do where the beams can't run together", async () => {
  await using engine = await createEngine({ ...options, maxNumSeqs: 3 });
  const refusal = engine.completions.create({ prompt: [1], use_beam_search: true, best_of: 4, max_tokens: 4 });
  await expect(refusal).rejects.toMatchObject({ code: "invalid_value", param: "best_of" });
});

// Masks: they are obeyed, under whatever other rules, and rows beside them are what they are alone.

import { expect, it } from "vitest";

import { createEngine, type Completion } from "../../src/index.ts";
import { withCommonDevice } from "../gpu/one-device.ts";

const onGpu = { backend: "webgpu", worker: false, gpu: await withCommonDevice() } as const;

it.each([onGpu, { backend: "cpu", worker: false, cpuThreads: 1 }] as const)(
  "holds answers to their grammars beside free ones, whose bits stay the same: $backend",
  async (on) => {
    await using engine = await createEngine({
      ...on,
      model: "/tests/fixtures/gpt2-tiny/",
      maxNumSeqs: 8,
      numGpuBlocks: 64,
    });
    const free = [
      { prompt: [1, 2, 3], seed: 5, max_tokens: 30, ignore_eos: true, logprobs: 2, return_token_ids: true },
      {
        prompt: [4, 5],
        seed: 6,
        max_tokens: 30,
        repetition_penalty: 1.3,
        ignore_eos: true,
        logprobs: 0,
        return_token_ids: true,
      },
    ];
    const reported = ({ choices }: Completion) => choices.map(({ token_ids, logprobs }) => ({ token_ids, logprobs }));
    const alone = [];
    for (const body of free) alone.push(reported(await engine.completions.create(body)));

    const bound = (fields: object) => engine.completions.create({ prompt: [7, 8], max_tokens: 60, seed: 1, ...fields });
    const [first, second, plates, words, greedy, short, cut] = await Promise.all([
      ...free.map((body) => engine.completions.create(body)),
      bound({ n: 2, structured_outputs: { regex: "[A-Z]{3}-\\d{2}" }, top_k: 5, top_p: 0.9 }),
      bound({ structured_outputs: { choice: ["one", "two"] }, no_repeat_ngram_size: 2, presence_penalty: 1 }),
      bound({
        temperature: 0,
        structured_outputs: { json: { type: "array", items: { type: "boolean" }, maxItems: 3 } },
      }),
      bound({ structured_outputs: { regex: "[ab]{2}" }, min_tokens: 9 }),
      bound({ structured_outputs: { regex: "[ab]{30}" }, max_tokens: 3 }),
    ]);
    expect([reported(first), reported(second)]).toEqual(alone);
    const answers = [plates, words, greedy, short, cut].map((one) =>
      (one?.choices ?? []).map(({ text, finish_reason }) => [finish_reason, text] as const),
    );
    const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;
    const plate = ["stop", matching(/^[A-Z]{3}-\d{2}$/)];
    expect(answers).toEqual([
      [plate, plate],
      [["stop", matching(/^(one|two)$/)]],
      [["stop", matching(/^\[((true|false)(, (true|false)){0,2})?\]$/)]],
      [["stop", matching(/^[ab]{2}$/)]],
      [["length", matching(/^[ab]+$/)]],
    ]);
  },
);

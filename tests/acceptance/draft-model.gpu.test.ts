// Two models on one device: one drafts for the other. Everything else about drafts is tested without a GPU.

import { expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { answersAlone, answersUnder } from "../requests/exactness.ts";
import { withCommonDevice } from "../gpu/one-device.ts";

const gpu = await withCommonDevice();
const model = "/tests/fixtures/gpt2-tiny/";
const NUM_REQUESTS = 5;

it("a draft model on the same GPU changes no token and no bit", async () => {
  const base = { backend: "webgpu", model, worker: false, gpu } as const;
  const alone = await answersAlone(createEngine, base, NUM_REQUESTS);
  const drafting = {
    name: "with its own drafts",
    config: { speculation: { method: "draft_model", model, num_speculative_tokens: 3 } },
    happened: ({
      spec_decode_num_accepted_tokens_total: accepted,
    }: {
      spec_decode_num_accepted_tokens_total: number;
    }) => accepted > 0,
  } as const;
  const { rounds, stats } = await answersUnder(createEngine, base, drafting, 1, NUM_REQUESTS);
  for (const answers of rounds) expect(answers).toEqual(alone);
  // It drafts for itself, so each draft is right as long as its own cache is.
  expect(stats.spec_decode_num_accepted_tokens_total).toBe(stats.spec_decode_num_draft_tokens_total);
});

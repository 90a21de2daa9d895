// The cost of a branch, on a real engine: the embedded model on the CPU, counted by the engine's own stats and cache map.

import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { createEngine } from "../../../index.ts";
import type { ChorusEngine } from "../../../protocol/engine.ts";
import { allowRelaxedSimd } from "../../../../tests/cpu/cpu.ts";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { EngineControl } from "../engine/engine-control.ts";
import { Workspace } from "../workspace/workspace.ts";
import { answerEnded } from "./answer-ended.ts";
import { findLikeliest } from "./likelihoods.ts";

allowRelaxedSimd();

const BLOCK = 16;
const model = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "model.safetensors",
].map((name) => new File([readFileSync(`public/models/chorus-chat/${name}`)], name));

let engine: ChorusEngine;
afterAll(() => engine.dispose());

it("a branch shares every full block before its word, and computes the rest of one", async () => {
  engine = await createEngine({ model, worker: false, backend: "cpu", cpuThreads: 1, blockSize: BLOCK });
  const { context: fake } = openPanes();
  const control = new EngineControl({
    createEngine: () => Promise.resolve(engine),
    choice: { model: "chorus-chat" },
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  const context = { ...fake, engine: control };
  engine.on("step", (report) => context.requestStats.addStep(report));
  engine.on("request", (report) => context.requestStats.addRequest(report));
  await control.start();
  const workspace = new Workspace(context);
  const pane = workspace.store.getState().panes[0]!;
  context.settings.setState({ temperature: 0 });
  context.settings.setState({ max_tokens: 40 });
  pane.send("Tell me a story about a fox.");
  await answerEnded(pane);
  const tokens = pane.memory.tokens.of(0)!.answer;
  expect(tokens.length).toBeGreaterThan(35);

  for (const at of [3, 33]) {
    // oxlint-disable-next-line no-await-in-loop -- one branch after the other
    await findLikeliest(pane, 0, at);
    const other = pane.memory.tokens.of(0)!.answer[at]!.likeliest[1]!;
    const before = await engine.stats();
    const branch = workspace.branchPane(pane, 0, at, other)!;
    await answerEnded(branch);
    branch.refreshFigures();
    const after = await engine.stats();
    const { promptTokens, cachedTokens } = branch.memory.branches.get(0)!.cost!;
    // The question's tokens, those of the answer before the word, and the word.
    const numTokens = pane.store.getState().figures!.promptTokens! + at + 1;
    const expected = {
      promptTokens: after.prefix_cache_queries - before.prefix_cache_queries,
      cachedTokens: after.prefix_cache_hits - before.prefix_cache_hits,
    };
    expect({ promptTokens, cachedTokens }).toEqual(expected);
    expect(promptTokens).toBe(numTokens);
    expect(cachedTokens).toBe(BLOCK * Math.floor((numTokens - 1) / BLOCK));
    expect(promptTokens - cachedTokens).toBeLessThanOrEqual(BLOCK);
  }
});

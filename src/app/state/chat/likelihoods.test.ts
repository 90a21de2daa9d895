import { expect, it, vi } from "vitest";
import type { ChatCompletion } from "../../../protocol/openai.ts";
import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";
import { canScore } from "./branching.ts";
import { findLikeliest, scoreAnswer } from "./likelihoods.ts";

const count = { answer: () => "a b c d e f g h" };

it("asks for the alternatives of a word where they were not told, once, and of no server", async () => {
  const { control, first, step, openPane } = openPanes(count);
  await control.start();
  const pane = openPane(1);
  pane.send("Count.");
  await step(8);
  expect(pane.memory.tokens.of(0)!.answer[1]!.likeliest).toEqual([]);
  const finding = findLikeliest(pane, 0, 1);
  await step(2);
  await finding;
  expect(first.accepted.at(-1)).toMatchObject({
    messages: [{ content: "Count." }, { role: "assistant", content: "a" }],
    final_message_token_ids: [0],
    max_tokens: 1,
    top_logprobs: 5,
  });
  expect(pane.memory.tokens.of(0)!.answer[1]!.likeliest.map(({ text }) => text)).toContain(" other1");
  const { length } = first.accepted;
  await findLikeliest(pane, 0, 1);
  expect(first.accepted).toHaveLength(length);
  expect(lastTurn(pane)?.answer).toBe("a b c d e f g h");
});

it("scores an answer from another visit by its text", async () => {
  const { control, first, openPane } = openPanes(count);
  await control.start();
  const turn = { id: 0, question: "Count.", answer: "a b", end: "stop" as const };
  const pane = openPane(1, { title: null, settings: {}, turns: [turn], contextStart: 0, draft: "" });
  expect(canScore(pane.asking.getState(), turn)).toBe(true);
  expect(canScore(pane.asking.getState(), { ...turn, by: "a server" })).toBe(false);
  const score = (decoded_token: string, logprob: number) => ({ decoded_token, logprob, rank: 1 });
  const answer = {
    choices: [{ prompt_token_ids: [9, 5, 6] }],
    prompt_logprobs: [null, { 5: score("a", -2), 7: score("x", -1) }, { 6: score(" b", -0.5) }],
  } as unknown as ChatCompletion;
  vi.spyOn(first.chat.completions, "create").mockResolvedValue(answer);
  await scoreAnswer(pane, 0);
  expect(pane.memory.tokens.of(0)?.answer).toEqual([
    {
      id: 5,
      text: "a",
      logprob: -2,
      likeliest: [
        { id: 7, text: "x", logprob: -1 },
        { id: 5, text: "a", logprob: -2 },
      ],
    },
    { id: 6, text: " b", logprob: -0.5, likeliest: [{ id: 6, text: " b", logprob: -0.5 }] },
  ]);
  expect(pane.memory.tokens.idsOf(0, "a b")).toEqual([5, 6]);
});

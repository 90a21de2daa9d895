// The product's promise: what is asked at the same time shares steps, and nobody's answer is changed by it. On the CPU;
// gpu-process.spec.ts has it on a GPU.

import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";
import { createEngine, openBarePage } from "./support/library.ts";
import { Steps } from "./support/steps.ts";

const questions = [
  "Tell me a story about a fox.",
  "What is the capital of France?",
  "How do I cook rice?",
  "Write a poem about the sea.",
];

test("four panes asked at once share steps, and say what each says alone", async ({ page }) => {
  const app = await App.open(page, "temperature=0&max_tokens=28");
  const panes = await app.addPanes(8);
  const requested = questions.map((question, index) => ({
    question,
    crowded: panes[index]!,
    quiet: panes[index + 4]!,
  }));
  for (const { question, crowded } of requested) await crowded.message.fill(question);
  // None has ended before the last is asked.
  const steps = await Steps.hold(page);
  for (const { crowded } of requested) await crowded.send.click();
  await steps.allowUntil(async () => (await app.figure("Peak").innerText()) === "4");
  await steps.release();
  for (const { crowded } of requested) await crowded.finished();

  for (const { question, crowded, quiet } of requested) {
    await quiet.ask(question);
    await quiet.finished();
    expect(await quiet.answer()).toMatch(/\w+ \w+/);
    expect(await crowded.answer()).toBe(await quiet.answer());
  }
});

test("calls made at the same time share steps, and give the tokens that each gives alone", async ({ page }) => {
  await openBarePage(page);
  // Prompts join at once: where steps are slow, they would join row by row, and the first answer end before the last began.
  const engine = await createEngine(page, { maxStepStretch: 1000 });
  // None has ended before the last one's text is tokens.
  const steps = await Steps.hold(page, "now");
  const requested = await engine.evaluateHandle((engine, prompts) => {
    const ids = async (content: string, index: number) => {
      const answer = await engine.chat.completions.create({
        messages: [{ role: "user", content }],
        // Two of them greedy, two of them not: different parameters run side by side.
        temperature: index % 2,
        seed: index,
        max_tokens: 12 + 4 * index,
        return_token_ids: true,
      });
      return answer.choices[0]?.token_ids;
    };
    let mostSequences = 0;
    engine.on("step", ({ entries }) => (mostSequences = Math.max(mostSequences, entries.length)));
    const together = Promise.all(prompts.map(ids)).then((answers) => ({ answers, mostSequences }));
    return { together, ids };
  }, questions);
  const numOpen = () =>
    engine.evaluate(async (engine) => {
      const { num_requests_running, num_requests_waiting } = await engine.stats();
      return num_requests_running + num_requests_waiting;
    });
  await expect.poll(numOpen).toBe(questions.length);
  await steps.release();
  const { together, alone } = await requested.evaluate(async ({ together, ids }, prompts) => {
    const { answers, mostSequences } = await together;
    const alone = [];
    for (const [index, prompt] of prompts.entries()) alone.push(await ids(prompt, index));
    return { together: { answers, mostSequences }, alone };
  }, questions);
  expect(together.mostSequences).toBe(questions.length);
  expect(alone.every((ids) => ids && ids.length > 0)).toBe(true);
  expect(together.answers).toEqual(alone);
});

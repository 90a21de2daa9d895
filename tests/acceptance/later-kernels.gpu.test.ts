// Kernels that are compiled while answers stream: only the requests that need one wait for it, or end if it is refused.

import { expect, it } from "vitest";

import { createEngine, type ChorusEngine } from "../../src/index.ts";
import { withCommonDevice, withTamperedDevice } from "../gpu/one-device.ts";
import { compileAfter } from "../gpu/tampered-gpu.ts";

const gpu = await withCommonDevice();
const TINY = { backend: "webgpu", model: "/tests/fixtures/gpt2-tiny/", worker: false, gpu, dtype: "f32" } as const;
const LONG = { prompt: "The first", max_tokens: 40, ignore_eos: true, temperature: 0 };
const RULED = { ...LONG, prompt: "The second", logit_bias: { 17: 5 } };

const LIKELIEST = { ...LONG, logprobs: 2 };

const containing = (words: string): string => expect.stringContaining(words) as string;

/** An engine whose kernels of these names wait. What is known of other adapters' answers is not known of its own. */
async function engineWhere(names: readonly string[], wait: () => Promise<void>): Promise<ChorusEngine> {
  const waitFor = (label: string) => (names.some((name) => label.startsWith(name)) ? wait() : undefined);
  const late = await withTamperedDevice(`late ${crypto.randomUUID()}`, (device) => compileAfter(device, waitFor));
  return createEngine({ ...TINY, gpu: late });
}

async function textOf(engine: ChorusEngine, body: typeof LONG): Promise<string | undefined> {
  return (await engine.completions.create(body)).choices[0]?.text;
}

it("a refused kernel ends the requests that need it, names itself, and leaves the others alone", async () => {
  await using right = await createEngine(TINY);
  const expected = await textOf(right, LONG);
  await using engine = await engineWhere(["process-logits", "top-logprobs"], () =>
    Promise.reject(new Error("The test refuses it.")),
  );
  const other = textOf(engine, LONG);
  const refused = { code: "kernel_refused", message: containing("process-logits") };
  await expect(textOf(engine, RULED)).rejects.toMatchObject(refused);
  expect(await other).toBe(expected);
  await expect(textOf(engine, RULED)).rejects.toMatchObject(refused);
  await expect(textOf(engine, LIKELIEST)).rejects.toMatchObject({ ...refused, message: containing("top-logprobs") });
  expect(await textOf(engine, LONG)).toBe(expected);
});

it("a product whose first kernel is refused begins with another one, and all answers are the same", async () => {
  await using right = await createEngine(TINY);
  const expected = await textOf(right, LONG);
  let numRefused = 0;
  await using engine = await engineWhere(["matmul-any"], () => {
    numRefused += 1;
    return Promise.reject(new Error("The test refuses it."));
  });
  expect(numRefused).toBeGreaterThan(0);
  expect(engine.model).toMatchObject({ backend: "webgpu", notice: null });
  expect(await textOf(engine, LONG)).toBe(expected);
});

it("answers stream while another one waits for its kernel", async () => {
  await using right = await createEngine(TINY);
  const expected = [await textOf(right, LONG), await textOf(right, RULED)];
  let compile = (): void => {};
  const compiling = new Promise<void>((resolve) => (compile = resolve));
  await using engine = await engineWhere(["process-logits"], () => compiling);
  let isAnswered = false;
  const ruled = textOf(engine, RULED).finally(() => (isAnswered = true));
  expect(await textOf(engine, LONG)).toBe(expected[0]);
  expect(isAnswered).toBe(false);
  await expect(engine.stats()).resolves.toMatchObject({ num_requests_waiting: 1 });
  compile();
  expect(await ruled).toBe(expected[1]);
});

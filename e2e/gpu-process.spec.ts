// Chromium's GPU process is killed: while answers are computed, while the engine idles, and while a model loads. Every answer
// is what it is undisturbed and alone.

import { expect, test, type JSHandle } from "playwright/test";
import { testFlags } from "../tools/browsers/chromium-flags.mjs";
import { killGpuProcess } from "../lab/runs/gpu-process.ts";
import type { ChorusEngine } from "../src/protocol/engine.ts";
import { createEngine, openBarePage } from "./support/library.ts";
import { Steps } from "./support/steps.ts";

// Chromium keeps WebGPU from a page for a while after a crash, and from all pages after several.
const PATIENT = ["--disable-domain-blocking-for-3d-apis", "--disable-gpu-process-crash-limit"];
test.use({
  launchOptions: async ({ launchOptions }, provide) =>
    provide({ ...launchOptions, args: [...testFlags(), ...PATIENT] }),
});

/** The texts of two streams, at once or one after the other. */
function answers(engine: JSHandle<ChorusEngine>, when: "at once" | "alone" = "at once"): Promise<string[]> {
  return engine.evaluate(async (engine, when) => {
    const requested: Promise<string>[] = [];
    for (const [seed, prompt] of ["Once upon a time", "Tell me a joke"].entries()) {
      const stream = async () => {
        let text = "";
        const body = { prompt, seed, max_tokens: 32, ignore_eos: true, stream: true } as const;
        for await (const chunk of await engine.completions.create(body)) text += chunk.choices[0]?.text ?? "";
        return text;
      };
      requested.push(stream());
      if (when === "alone") await requested[seed];
    }
    return Promise.all(requested);
  }, when);
}

test("answers are as undisturbed, and alone, when the GPU process is killed in mid-batch, idle, and while loading", async ({
  page,
  browser,
}) => {
  await openBarePage(page);
  const engine = await createEngine(page, { backend: "webgpu" });
  const stats = () => engine.evaluate((engine) => engine.stats());
  const undisturbed = await answers(engine, "alone");
  const numBefore = (await stats()).generation_tokens_total;
  // Held in mid-answer, however fast the machine is.
  const steps = await Steps.hold(page, "now");
  const going = answers(engine);
  await steps.allowUntil(async () => (await stats()).generation_tokens_total > numBefore + 30);
  expect(await killGpuProcess(browser)).not.toBeNull();
  await steps.release();
  expect(await going).toEqual(undisturbed);
  expect((await stats()).device_losses_total).toBe(1);

  await killGpuProcess(browser);
  await expect.poll(async () => (await stats()).device_losses_total).toBe(2);
  await engine.evaluate((engine) => engine.dispose());

  let numKilled = 0;
  await page.exposeFunction("onKernel", async () => {
    if (numKilled++ === 0) await killGpuProcess(browser);
  });
  const loaded = await page.evaluateHandle(async () => {
    const library = new URL("./lib/chorus.js", location.href).href;
    const { createEngine: create } = (await import(library)) as typeof import("../src/index.ts");
    const { onKernel } = globalThis as unknown as { onKernel: () => Promise<void> };
    const onProgress = ({ stage }: { stage: string }) => void (stage === "kernels" && onKernel());
    return create({ backend: "webgpu", model: "models/chorus-chat/", onProgress });
  });
  expect(numKilled).toBeGreaterThan(1);
  expect(await answers(loaded)).toEqual(undisturbed);
});

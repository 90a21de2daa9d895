// Lets a test control how many steps of the engine end. So an answer is as far as the test wants, however fast the machine
// is, and never ends before the test has looked at it.

import type { Page, Worker } from "playwright/test";

/** The function that `hold` adds to the worker. */
type HeldScope = typeof globalThis & { allowSteps(count: number): void };

/** The engine's worker, which has others beside it. */
export async function engineWorker(page: Page): Promise<Worker> {
  const isEngine = (worker: Worker) => worker.url().includes("engine.worker");
  return page.workers().find(isEngine) ?? (await page.waitForEvent("worker", isEngine));
}

export class Steps {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /**
   * From now on the engine's steps end only when allowed. After the steps that compute its prompt, an answer gets one token
   * per step.
   * @param when "ready": waits for the app's model, since loading computes steps, too: those whose answers are known
   */
  static async hold(page: Page, when: "ready" | "now" = "ready"): Promise<Steps> {
    if (when === "ready") await page.getByRole("combobox", { name: "Runs on" }).waitFor();
    const worker = await engineWorker(page);
    await worker.evaluate(() => {
      const waiting: (() => void)[] = [];
      let allowed = 0;
      const isAllowed = async () => {
        if (allowed > 0) allowed--;
        else await new Promise<void>((resolve) => waiting.push(resolve));
      };
      // On a GPU each step reads its tokens back once, in order. Kernels that are compiled later are read back, too.
      const map = Reflect.get(GPUBuffer.prototype, "mapAsync") as (...given: unknown[]) => Promise<undefined>;
      GPUBuffer.prototype.mapAsync = async function mapWhenAllowed(...given) {
        if (this.label.startsWith("readback")) await isAllowed();
        return map.apply(this, given);
      };
      // On the CPU each step is a task that an empty message begins (src/backends/cpu/task-queue.ts).
      const post = Reflect.get(MessagePort.prototype, "postMessage") as (...given: unknown[]) => void;
      MessagePort.prototype.postMessage = function postWhenAllowed(...given: unknown[]) {
        if (given[0] !== null) post.apply(this, given);
        else void isAllowed().then(() => post.apply(this, given));
      };
      (self as unknown as HeldScope).allowSteps = (count) => {
        const ending = waiting.splice(0, count);
        allowed += count - ending.length;
        for (const end of ending) end();
      };
    });
    return new Steps(worker);
  }

  /** Allows this many more steps to end. */
  async allow(count: number): Promise<void> {
    await this.#worker.evaluate((count) => (self as unknown as HeldScope).allowSteps(count), count);
  }

  /** Allows all steps to end. */
  release(): Promise<void> {
    return this.allow(Number.MAX_SAFE_INTEGER);
  }
}

// Lets a test control how many steps of the engine end. So an answer is as far as the test wants, however fast the machine
// is, and never ends before the test has looked at it.

import { expect, type Page, type Worker } from "playwright/test";

/** What `hold` adds to the worker. */
interface HeldSteps {
  /** Steps that may still end. */
  allowed: number;
  /** Ends each step that is held, the oldest first. */
  readonly waiting: (() => void)[];
}
type HeldScope = typeof globalThis & { heldSteps?: HeldSteps };

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
      const scope = self as unknown as HeldScope;
      if (scope.heldSteps) return void (scope.heldSteps.allowed = 0);
      const held: HeldSteps = (scope.heldSteps = { allowed: 0, waiting: [] });
      const isAllowed = async () => {
        if (held.allowed > 0) held.allowed--;
        else await new Promise<void>((resolve) => held.waiting.push(resolve));
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
      // The engine gives up a device whose step takes ten seconds (src/host/watched-runner.ts). A busy machine holds one
      // for as long. What watches the steps may tick already: this changes the limit that it compares with.
      const max = Math.max;
      Math.max = (...values) => (held.waiting.length > 0 && values[0] === 10_000 ? Infinity : max(...values));
    });
    return new Steps(worker);
  }

  /** Allows this many more steps to end. */
  async allow(count: number): Promise<void> {
    await this.#worker.evaluate((count) => {
      const held = (self as unknown as HeldScope).heldSteps!;
      const ending = held.waiting.splice(0, count);
      held.allowed += count - ending.length;
      for (const end of ending) end();
    }, count);
  }

  /**
   * Lets the steps that are held end, one after the other, until `isSo`. How many that takes depends on how prompts are cut,
   * which depends on the machine. What the page shows may be some steps behind.
   */
  async allowUntil(isSo: () => Promise<boolean>): Promise<void> {
    const look = async () => {
      const found = await isSo();
      if (!found) await this.#worker.evaluate(() => (self as unknown as HeldScope).heldSteps!.waiting.shift()?.());
      return found;
    };
    await expect.poll(look, { intervals: [100] }).toBe(true);
  }

  /** Allows all steps to end. */
  release(): Promise<void> {
    return this.allow(Number.MAX_SAFE_INTEGER);
  }
}

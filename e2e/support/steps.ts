// The engine's steps, as many as the test lets come to their end. However fast or slow a machine is, an answer is then
// as far as the test wants it to be: nothing ends before what is to be seen of it has been seen.

import type { Page, Worker } from "playwright/test";

/** What a held worker has besides its own. */
type HeldScope = typeof globalThis & { allowSteps(count: number): void };

export class Steps {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /**
   * From now on no step of the page's engine ends before it is allowed to. A step brings each answer a token, after
   * those that compute its prompt.
   */
  static async hold(page: Page): Promise<Steps> {
    const worker = page.workers()[0] ?? (await page.waitForEvent("worker"));
    await worker.evaluate(() => {
      // Each step reads its tokens back once, in order.
      const map = Reflect.get(GPUBuffer.prototype, "mapAsync") as (...given: unknown[]) => Promise<undefined>;
      const waiting: (() => void)[] = [];
      let allowed = 0;
      GPUBuffer.prototype.mapAsync = async function mapWhenAllowed(...given) {
        if (allowed > 0) allowed--;
        else await new Promise<void>((resolve) => waiting.push(resolve));
        return map.apply(this, given);
      };
      (self as unknown as HeldScope).allowSteps = (count) => {
        const ending = waiting.splice(0, count);
        allowed += count - ending.length;
        for (const end of ending) end();
      };
    });
    return new Steps(worker);
  }

  /** So many more steps come to their end. */
  async allow(count: number): Promise<void> {
    await this.#worker.evaluate((count) => (self as unknown as HeldScope).allowSteps(count), count);
  }

  /** All do. */
  release(): Promise<void> {
    return this.allow(Number.MAX_SAFE_INTEGER);
  }
}

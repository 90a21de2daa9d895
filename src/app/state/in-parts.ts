/** A part of the work takes so long: the page draws and hears keys between two parts. */
const PART_MS = 12;

/** Handles each item of a long list without blocking the page. Stops if `handle` throws. */
export async function inParts<Item, Result>(
  items: readonly Item[],
  handle: (item: Item, index: number) => Result,
  onPart: (numDone: number) => void = () => undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  let beganMs = performance.now();
  for (const [index, item] of items.entries()) {
    if (performance.now() - beganMs >= PART_MS) {
      onPart(index);
      // oxlint-disable-next-line no-await-in-loop -- the parts follow one another
      await nextTask();
      beganMs = performance.now();
    }
    results.push(handle(item, index));
  }
  return results;
}

/** Resolves in a new task, after those that wait already. Timers would add 4 ms, and a second in a hidden tab. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}

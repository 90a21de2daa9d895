/**
 * Runs `work` for one item after the other.
 *
 * @template Item, Result
 * @param {readonly Item[]} items
 * @param {(item: Item) => Promise<Result>} work
 */
export async function inTurn(items, work) {
  const results = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Returns the largest count from 0 to `atMost` that fits. Whatever is smaller than one that fits must fit, too. */
export function largestCount(atMost: number, fits: (count: number) => boolean): number {
  let [fitting, tooMany] = [0, atMost + 1];
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2);
    if (fits(middle)) fitting = middle;
    else tooMany = middle;
  }
  return fitting;
}

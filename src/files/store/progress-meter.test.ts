import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DownloadProgress } from "../../protocol/models.ts";
import { ProgressMeter } from "./progress-meter.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function meterOf(totalBytes: number, receivedBytes = 0) {
  const reported: DownloadProgress[] = [];
  const meter = new ProgressMeter({ totalBytes, receivedBytes, onProgress: (progress) => reported.push(progress) });
  return { meter, reported };
}

test("the rate excludes bytes stored before", () => {
  const { meter, reported } = meterOf(10_000, 5000);
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(100);
    meter.add(100);
  }
  const atFirst = {
    receivedBytes: 5000,
    totalBytes: 10_000,
    bytesPerSecond: null,
    secondsLeft: null,
    isWaiting: false,
  };
  expect(reported[0]).toEqual(atFirst);
  expect(reported.at(-1)).toEqual({
    receivedBytes: 6000,
    totalBytes: 10_000,
    bytesPerSecond: 1000,
    secondsLeft: 4,
    isWaiting: false,
  });
});

test("reports a few times a second, includes the last bytes before a pause, and stops once closed", () => {
  const { meter, reported } = meterOf(1_000_000);
  for (let i = 0; i < 1000; i++) {
    meter.add(10);
    vi.advanceTimersByTime(1);
  }
  expect(reported.length).toBeLessThan(15);
  meter.add(7);
  vi.advanceTimersByTime(100);
  expect(reported.at(-1)?.receivedBytes).toBe(10_007);
  meter.add(1);
  meter.close();
  const { length } = reported;
  vi.advanceTimersByTime(1000);
  expect(reported).toHaveLength(length);
});

test("says that it waits where nothing comes, until something does or all is there", () => {
  const { meter, reported } = meterOf(100);
  meter.add(10);
  vi.advanceTimersByTime(5000);
  expect(reported.at(-1)).toMatchObject({ receivedBytes: 10, isWaiting: true, secondsLeft: null });
  meter.add(90);
  expect(reported.at(-1)).toMatchObject({ receivedBytes: 100, isWaiting: false });
  const { length } = reported;
  vi.advanceTimersByTime(10_000);
  expect(reported).toHaveLength(length);
});

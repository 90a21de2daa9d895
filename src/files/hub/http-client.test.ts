import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { HttpClient, readAll } from "./http-client.ts";
import { fetchFile, type ArrivingFile } from "./arriving-file.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const REQUEST = { url: "https://a.example/model.safetensors", headers: {}, file: "model.safetensors" };

/** Never answers, until it is aborted. */
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
  });

test("a server that says nothing is reported within a minute, after several tries", async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(silent);
  const onWaiting = vi.fn<() => void>();
  const outcome = readAll(new HttpClient({ fetch, onWaiting }), REQUEST).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(4000);
  expect(onWaiting).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(56_000);
  const isOver = await Promise.race([outcome, Promise.resolve("not yet")]);
  expect(isOver).toMatchObject({ code: "model_download_failed", message: expect.stringContaining("nothing arrived") });
  expect(fetch.mock.calls.length).toBeGreaterThan(2);
});

test("a pause that the server asks for is kept, and does not use up the minute", async () => {
  const busy = () => new Response("", { status: 503, headers: { "retry-after": "50" } });
  const answers = [busy, busy, () => new Response("it")];
  const fetch = vi.fn<() => Promise<Response>>(async () => (answers.shift() ?? busy)());
  const read = readAll(new HttpClient({ fetch }), REQUEST);
  await vi.advanceTimersByTimeAsync(49_000);
  expect(fetch).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(new TextDecoder().decode((await read).bytes)).toBe("it");
});

test("redirects in a circle are followed twice, not six times", async () => {
  let numFollowed = 0;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    if (init?.redirect === "manual") return new Response(null, { status: 302 });
    numFollowed += 1;
    throw new TypeError("Failed to fetch");
  };
  const outcome = readAll(new HttpClient({ fetch }), REQUEST).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await outcome).toMatchObject({ message: expect.stringContaining("it redirects in a circle") });
  expect(numFollowed).toBe(2);
});

test.each([400, 403, 405, 416, 500, "CORS"])(
  "a range that is refused with %s is tried as a whole file",
  async (refusal) => {
    const requested: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      const range = new Headers(init?.headers).get("range");
      requested.push(range);
      if (range === null) return new Response("whole");
      if (typeof refusal === "number") return new Response("", { status: refusal });
      throw new TypeError("Failed to fetch");
    };
    const { response } = await new HttpClient({ fetch }).open({ ...REQUEST, range: [2, 4] });
    expect([response.status, await response.text(), requested]).toEqual([200, "whole", ["bytes=2-3", null]]);
  },
);

test.each([429, 503])("a range is not tried as a whole file where the server is busy: %i", async (status) => {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response("", { status }));
  await expect(new HttpClient({ fetch }).open({ ...REQUEST, range: [2, 4] })).rejects.toThrow(String(status));
  expect(fetch).toHaveBeenCalledTimes(1);
});

test.each([
  ["resumes one byte off", 1, { etag: '"1"' }],
  ["resumes where it was asked to", 0, { etag: '"1"' }],
  ["resumes where it was asked to, and shows only a date,", 0, { "last-modified": "Sun, 22 Nov 2026 20:00:00 GMT" }],
])("a server that %s brings the file as it is", async (_, shift, version) => {
  const file = Uint8Array.from({ length: 20_000 }, (_byte, i) => (i * 2654435761) >>> 24);
  let numRequests = 0;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    numRequests += 1;
    const [, begin] = /^bytes=(\d+)-/.exec(new Headers(init?.headers).get("range") ?? "") ?? [];
    const headers: Record<string, string> = { ...version, "content-length": String(file.length) };
    if (begin !== undefined) return new Response(file.slice(Number(begin) + shift), { status: 206, headers });
    if (numRequests > 1) return new Response(file, { headers });
    const cut = new ReadableStream({
      start: (controller) => controller.enqueue(file.slice(0, 12_000)),
      pull: (controller) => controller.error(new TypeError("reset")),
    });
    return new Response(cut, { headers });
  };
  const streaming = fetchFile(new HttpClient({ fetch }), REQUEST, () => undefined);
  await vi.advanceTimersByTimeAsync(60_000);
  const whole = await ((await streaming) as ArrivingFile).whole();
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(file);
  expect(numRequests).toBe(shift === 0 ? 2 : 3);
});

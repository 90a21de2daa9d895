import { expect, test, vi } from "vitest";

import { ArrivingFile, fetchFile } from "./arriving-file.ts";
import { HttpClient } from "./http-client.ts";

const REQUEST = { url: "https://a.example/model.safetensors", headers: {}, file: "model.safetensors" };
const MIB = 2 ** 20;
/** Larger than the pieces that are handed over. */
const FILE = new Uint8Array(3 * MIB + 5).map((_, i) => (i * 2654435761) >>> 24);
const CHANGED = FILE.map((byte) => byte ^ 1);

/** A response that is sent as the test says. */
function heldResponse(file: Uint8Array, { begin = 0, headers = {} }: { begin?: number; headers?: HeadersInit } = {}) {
  let at = begin;
  let controller: ReadableStreamDefaultController | undefined;
  const body = new ReadableStream({ start: (given) => void (controller = given) });
  const sendUpTo = (end: number) => {
    controller?.enqueue(file.slice(at, end));
    at = end;
  };
  return {
    response: new Response(body, {
      status: begin > 0 ? 206 : 200,
      headers: { "content-length": `${file.length}`, ...headers },
    }),
    sendUpTo,
    finish() {
      sendUpTo(file.length);
      controller?.close();
    },
    cut: () => controller?.error(new TypeError("cut off")),
  };
}

type Held = ReturnType<typeof heldResponse>;

/** Fetches from a server that answers with these, one after the other. */
async function fetched(
  answers: readonly Held[],
  signal?: AbortSignal,
  options: ConstructorParameters<typeof HttpClient>[0] = {},
  onBytes: (doneBytes: number) => void = () => undefined,
) {
  const left = [...answers];
  const fetch = vi.fn<typeof globalThis.fetch>(async () => left.shift()?.response ?? new Response("", { status: 404 }));
  const http = new HttpClient({ fetch, wait: () => Promise.resolve(), ...options });
  const file = await fetchFile(http, REQUEST, onBytes, signal);
  if (!(file instanceof ArrivingFile)) throw new Error(file.missing);
  file.whole().catch(() => undefined);
  return { file, fetch };
}

const read = async (file: ArrivingFile, begin: number, end: number) =>
  new Uint8Array(await file.slice(begin, end).arrayBuffer());
const wholeOf = async (file: ArrivingFile) => new Uint8Array(await (await file.whole()).arrayBuffer());
// Quicker than toEqual.
const isSame = (bytes: Uint8Array, expected: Uint8Array) => Buffer.compare(bytes, expected) === 0;
const isSettled = async (promise: Promise<unknown>) => {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  return settled;
};

test("a part can be read as soon as it is there, and waits until then", async () => {
  const held = heldResponse(FILE);
  const { file } = await fetched([held]);
  held.sendUpTo(MIB);
  expect(isSame(await read(file, 8, 20), FILE.slice(8, 20))).toBe(true);
  const later = read(file, MIB - 3, MIB + 3);
  expect(await isSettled(later)).toBe(false);
  held.finish();
  expect(isSame(await later, FILE.slice(MIB - 3, MIB + 3))).toBe(true);
  expect(isSame(await wholeOf(file), FILE)).toBe(true);
});

test("what is beyond the end is left out once the end is known, and waits until then", async () => {
  const held = heldResponse(FILE);
  const { file } = await fetched([held]);
  const beyond = read(file, FILE.length - 3, FILE.length + 3);
  held.sendUpTo(FILE.length);
  expect(await isSettled(beyond)).toBe(false);
  held.finish();
  expect(isSame(await beyond, FILE.slice(-3))).toBe(true);
  expect((await read(file, FILE.length, FILE.length + 1)).length).toBe(0);
});

test.each([
  ["small", 16 * MIB, {}, 0],
  ["compressed, small", 16 * MIB, { "content-encoding": "gzip" }, 0],
  ["large", 16 * MIB + 1, {}, 2],
])("of a %s file's parts the browser is asked as often as it must be", async (_, bytes, headers, numRequests) => {
  const file = new Uint8Array(bytes).fill(7, MIB);
  const held = heldResponse(file, { headers });
  const { file: arriving } = await fetched([held]);
  held.finish();
  await arriving.whole();
  const ask = vi.spyOn(Blob.prototype, "arrayBuffer");
  for (const [begin, end] of [
    [0, 8],
    [MIB - 2, 3 * MIB],
  ] as const) {
    expect(isSame(await read(arriving, begin, end), file.slice(begin, end))).toBe(true);
  }
  expect(ask).toHaveBeenCalledTimes(numRequests);
  ask.mockRestore();
});

test("a file of unknown size can be read across the place where memory ends", async () => {
  const file = new Uint8Array(18 * MIB).map((_, i) => i % 251);
  const held = heldResponse(file, { headers: { "content-encoding": "gzip" } });
  const { file: arriving } = await fetched([held]);
  held.sendUpTo(15 * MIB);
  held.finish();
  const [begin, end] = [14 * MIB + 3, 17 * MIB - 5];
  expect(isSame(await read(arriving, begin, end), file.subarray(begin, end))).toBe(true);
  expect(isSame(await wholeOf(arriving), file)).toBe(true);
});

const ETAG = { headers: { etag: '"1"' } };
const OVERLAP = 4096;

test.each([
  ["resumes", ETAG, [{ ...ETAG, begin: 2 * MIB - OVERLAP }]],
  ["takes ranges, but shows neither ETag nor date", {}, [{}]],
  ["has another ETag on each machine", ETAG, [{ headers: { etag: '"2"' }, begin: 2 * MIB - OVERLAP }, ETAG]],
  ["resumes one byte off", ETAG, [{ ...ETAG, begin: 2 * MIB - OVERLAP + 1 }, ETAG]],
] as const)("a file that has been read arrives whole from a server that %s", async (_, first, others) => {
  const [cut, ...rest] = [first, ...others].map((options) => heldResponse(FILE, options));
  if (!cut) throw new Error("no answer");
  const { file, fetch } = await fetched([cut, ...rest]);
  cut.sendUpTo(2 * MIB);
  await read(file, 0, 8);
  cut.cut();
  for (const held of rest) held.finish();
  expect(isSame(await wholeOf(file), FILE)).toBe(true);
  expect(fetch).toHaveBeenCalledTimes(1 + others.length);
  const { range } = Object.fromEntries(new Headers(fetch.mock.calls[1]?.[1]?.headers));
  expect(range).toBe(first === ETAG ? `bytes=${2 * MIB - OVERLAP}-${FILE.length - 1}` : undefined);
});

test("a server that always breaks off at the same place is given up", async () => {
  // An error at once would take with it what nobody has fetched yet.
  const breakingOff = () => {
    const parts = [FILE.slice(0, MIB)];
    const pull = (controller: ReadableStreamDefaultController) => {
      const part = parts.shift();
      if (part) controller.enqueue(part);
      else controller.error(new TypeError("cut off"));
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  };
  const fetch = vi.fn<typeof globalThis.fetch>(async () => breakingOff());
  const reported: number[] = [];
  const http = new HttpClient({ fetch, wait: () => Promise.resolve() });
  const file = (await fetchFile(http, REQUEST, (done) => reported.push(done))) as ArrivingFile;
  await expect(file.whole()).rejects.toMatchObject({ code: "model_download_failed" });
  // The first one is progress; five more are tried, and the last failure counts.
  expect(reported).toEqual(reported.map(() => MIB));
  expect(fetch).toHaveBeenCalledTimes(6);
});

test("a break after minutes is no failure while bytes arrive", async () => {
  const [first, again] = [heldResponse(FILE, ETAG), heldResponse(FILE, { ...ETAG, begin: MIB - OVERLAP })];
  let nowMs = 0;
  const { file } = await fetched([first, again], undefined, { now: () => nowMs });
  nowMs = 300_000;
  first.sendUpTo(MIB);
  await read(file, 0, 8);
  first.cut();
  again.finish();
  expect(isSame(await wholeOf(file), FILE)).toBe(true);
});

test("bytes that are compared count as progress, too", async () => {
  const [first, again] = [heldResponse(FILE), heldResponse(FILE)];
  const reported: number[] = [];
  const { file } = await fetched([first, again], undefined, {}, (done) => reported.push(done));
  first.sendUpTo(2 * MIB);
  await read(file, 0, 8);
  first.cut();
  again.sendUpTo(MIB);
  await expect.poll(() => reported).toEqual([2 * MIB, MIB]);
  again.finish();
  await file.whole();
});

test("what was read is compared with what a server sends that begins again", async () => {
  const [first, again] = [heldResponse(FILE), heldResponse(FILE)];
  const { file, fetch } = await fetched([first, again]);
  first.sendUpTo(2 * MIB);
  await read(file, 0, 8);
  first.cut();
  again.finish();
  expect(isSame(await wholeOf(file), FILE)).toBe(true);
  expect(fetch).toHaveBeenCalledTimes(2);
});

test.each([
  ["changed", CHANGED],
  ["became shorter", FILE.slice(0, MIB)],
])("a file that %s after it was read is no longer read", async (_, changed) => {
  const [first, again] = [heldResponse(FILE), heldResponse(changed)];
  const { file, fetch } = await fetched([first, again, heldResponse(changed)]);
  first.sendUpTo(2 * MIB);
  await read(file, 0, 8);
  const later = read(file, 2 * MIB, 3 * MIB);
  first.cut();
  again.finish();
  const failure = { code: "model_download_failed", message: expect.stringContaining("changed on the server") };
  await expect(later).rejects.toMatchObject(failure);
  await expect(file.whole()).rejects.toMatchObject(failure);
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("a file that changed after it was read is told from it, whatever breaks off in between", async () => {
  const changed = FILE.slice();
  changed[1.5 * MIB] = ~(changed[1.5 * MIB] ?? 0);
  const first = heldResponse(FILE, ETAG);
  const headers = { etag: '"2"' };
  const others: Held[] = [];
  const fetch = vi.fn<typeof globalThis.fetch>(async (_url, init) => {
    if (fetch.mock.calls.length === 1) return first.response;
    // The server has no version 1 any more: whoever asks for the rest of it gets all of version 2.
    const begin = Number(/^bytes=(\d+)-/.exec(new Headers(init?.headers).get("range") ?? "")?.[1] ?? 0);
    const other = heldResponse(changed, { headers, begin: others.length === 0 ? 0 : begin });
    others.push(other);
    if (others.length > 1) other.finish();
    return other.response;
  });
  const http = new HttpClient({ fetch, wait: () => Promise.resolve() });
  const reported: number[] = [];
  const file = (await fetchFile(http, REQUEST, (done) => reported.push(done))) as ArrivingFile;
  file.whole().catch(() => undefined);
  first.sendUpTo(2 * MIB);
  await read(file, 0, 8);
  first.cut();
  await expect.poll(() => others).toHaveLength(1);
  others[0]?.sendUpTo(MIB);
  await expect.poll(() => reported).toEqual([2 * MIB, MIB]);
  others[0]?.cut();
  await expect(file.whole()).rejects.toMatchObject({ message: expect.stringContaining("changed on the server") });
});

test("where a server compresses the rest, which nobody can unpack, the file is fetched anew", async () => {
  const [first, rest, again] = [
    heldResponse(FILE, ETAG),
    heldResponse(FILE, { begin: 2 * MIB - OVERLAP, headers: { etag: '"1"', "content-encoding": "gzip" } }),
    heldResponse(FILE, ETAG),
  ];
  const { file, fetch } = await fetched([first, rest, again]);
  first.sendUpTo(2 * MIB);
  await read(file, 0, 8);
  first.cut();
  again.finish();
  expect(isSame(await wholeOf(file), FILE)).toBe(true);
  expect(new Headers(fetch.mock.calls[2]?.[1]?.headers).get("range")).toBeNull();
});

test("a file that changed before anybody read it is fetched anew", async () => {
  const [first, again] = [heldResponse(FILE), heldResponse(CHANGED)];
  const { file } = await fetched([first, again]);
  first.sendUpTo(2 * MIB);
  first.cut();
  again.finish();
  expect(isSame(await wholeOf(file), CHANGED)).toBe(true);
});

test("an aborted download ends what is read of it", async () => {
  const held = heldResponse(FILE);
  const ending = new AbortController();
  const { file, fetch } = await fetched([held], ending.signal);
  const reading = read(file, 0, 8);
  ending.abort(new Error("closed"));
  // A stub's stream does not hear the signal, as a browser's does.
  held.cut();
  await expect(reading).rejects.toThrow("closed");
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(fetch.mock.calls[0]?.[1]?.signal?.aborted).toBe(true);
});

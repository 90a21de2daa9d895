import { describe, expect, test, vi } from "vitest";
import type { ChorusErrorCode } from "../protocol/errors.ts";
import { HttpClient } from "./hub/http-client.ts";
import { openRemoteFolder } from "./hub/remote-folder.ts";
import { openRemoteFiles } from "./hub/remote-files.ts";
import { openFileList, type ModelFiles, type OnBytes } from "./model-files.ts";

const FOLDER = "https://a.example/m/";

/** A folder at FOLDER of these paths; the server answers 404 for others. */
async function openFolder(
  answers: Record<string, () => Response>,
  onBytes?: OnBytes,
  url = FOLDER,
): Promise<ModelFiles> {
  const http = new HttpClient({
    fetch: async (requested) => answers[requested as string]?.() ?? new Response("no", { status: 404 }),
    wait: () => Promise.resolve(),
  });
  return openRemoteFiles(await openRemoteFolder({ type: "folder", url }, http), http, onBytes);
}

const json = (value: unknown) => () => new Response(JSON.stringify(value));
const failure = (code: ChorusErrorCode, part: string, param: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(part), param });

describe("a folder by URL", () => {
  test.each([
    ["https://a.example/models/tiny/", "https://a.example/models/tiny/config.json", "tiny"],
    ["https://a.example/models/tiny/?token=1", "https://a.example/models/tiny/config.json?token=1", "tiny"],
    ["https://a.example/", "https://a.example/config.json", "a.example"],
  ])("%s reads %s", async (url, file, name) => {
    const files = await openFolder({ [file]: json({ a: 1 }) }, undefined, url);
    expect(files.name).toBe(name);
    expect(await files.readJson("config.json")).toEqual({ a: 1 });
  });

  test("an error names a missing file's URL; tryOpen returns undefined", async () => {
    const files = await openFolder({});
    await expect(files.open("config.json")).rejects.toEqual(
      failure(
        "model_not_found",
        "There is no https://a.example/m/config.json (the server answered 404)",
        "config.json",
      ),
    );
    await expect(files.open("model.safetensors")).rejects.toEqual(
      failure("model_not_found", "(the server answered 404)", "model.safetensors"),
    );
    expect(await files.tryReadJson("config.json")).toBeUndefined();
    expect(await files.tryReadText("chat_template.jinja")).toBeUndefined();
  });

  test("an error says that the server sent a web page instead of a file", async () => {
    const page = () => new Response("<!doctype html>", { headers: { "content-type": "text/html; charset=utf-8" } });
    const plain = () => new Response("<!doctype html>", { headers: { "content-type": "application/octet-stream" } });
    const xhtml = () => new Response("<html/>", { headers: { "content-type": "Application/XHTML+XML" } });
    const files = await openFolder({
      [`${FOLDER}config.json`]: page,
      [`${FOLDER}model.safetensors`]: page,
      [`${FOLDER}plain.json`]: plain,
      [`${FOLDER}xhtml.json`]: xhtml,
    });
    await expect(files.readJson("config.json")).rejects.toEqual(
      failure("model_not_found", "a web page instead", "config.json"),
    );
    await expect(files.open("model.safetensors")).rejects.toEqual(
      failure("model_not_found", "a web page instead", "model.safetensors"),
    );
    expect(await files.tryReadText("config.json")).toBeUndefined();
    for (const file of ["plain.json", "xhtml.json"])
      await expect(files.readJson(file)).rejects.toEqual(failure("model_not_found", "a web page instead", file));
  });

  test.each(["text/plain", "application/octet-stream", ""])("a web page as %s is no chat template", async (type) => {
    const pages = [
      "\ufeff <!DOCTYPE html><p>Not here",
      "<HTML lang=en>",
      '<?xml version="1.0"?>',
      "<!-- a -->\n<!doctype html>",
    ];
    for (const page of pages) {
      const answer = () => new Response(page, { headers: { "content-type": type } });
      const files = await openFolder({ [`${FOLDER}chat_template.jinja`]: answer });
      expect(await files.tryReadText("chat_template.jinja")).toBeUndefined();
      const chosen = openFileList([new File([page], "chat_template.jinja")]);
      await expect(chosen.tryReadText("chat_template.jinja")).rejects.toEqual(
        failure("model_invalid", "looks like a web page", "chat_template.jinja"),
      );
    }
    const template = () => new Response("<|user|>{{ messages[0].content }}", { headers: { "content-type": type } });
    const files = await openFolder({ [`${FOLDER}chat_template.jinja`]: template });
    expect(await files.tryReadText("chat_template.jinja")).toMatch(/^<\|user/);
  });

  describe("that the browser's HTTP cache knows", () => {
    const page = () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } });

    /** Opens the folder twice: the cache thinks what it got first still fresh. */
    async function openTwice(first: () => Response, then: () => Response): Promise<ModelFiles> {
      const kept = new Map<string, Response>();
      let answer = first;
      const open = async () => {
        const fetch = async (url: string, init?: RequestInit) => {
          const copy = kept.get(url);
          if (copy && init?.cache !== "no-cache") return copy.clone();
          const response = answer();
          kept.set(url, response.clone());
          return response;
        };
        const http = new HttpClient({ fetch: fetch as typeof globalThis.fetch, wait: () => Promise.resolve() });
        return openRemoteFiles(await openRemoteFolder({ type: "folder", url: FOLDER }, http), http);
      };
      const files = await open();
      for (const file of ["chat_template.jinja", "model.safetensors"]) await files.tryOpen(file);
      answer = then;
      return open();
    }

    const offline = () => {
      throw new TypeError("Failed to fetch");
    };

    test.each(["chat_template.jinja", "model.safetensors"])("is asked for again: %s was a web page", async (file) => {
      const files = await openTwice(page, () => new Response("it"));
      expect(await (await files.open(file)).text()).toBe("it");
    });

    test.each(["chat_template.jinja", "model.safetensors"])(
      "counts offline if it is %s, not a web page",
      async (file) => {
        const files = await openTwice(() => new Response("it"), offline);
        expect(await (await files.open(file)).text()).toBe("it");
        const none = await openTwice(page, offline);
        await expect(none.tryOpen(file)).rejects.toEqual(failure("model_download_failed", "Failed to fetch", file));
      },
    );
  });

  test("is asked for without a referrer", async () => {
    const policies: unknown[] = [];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      policies.push(init?.referrerPolicy);
      return new Response("{}");
    };
    const http = new HttpClient({ fetch });
    const files = openRemoteFiles(await openRemoteFolder({ type: "folder", url: FOLDER }, http), http);
    for (const file of ["config.json", "model.safetensors"]) await files.open(file);
    expect(policies).toEqual(["no-referrer", "no-referrer"]);
  });

  test.each([
    [403, "model_access_denied", /the server answered 403\)\. It refuses this file/],
    [401, "model_access_denied", /the server answered 401\)\. It wants a login/],
    [416, "model_download_failed", /the server answered 416/],
  ])("a refusal with %i says what it is, and names no hub", async (status, code, message) => {
    const files = await openFolder({ [`${FOLDER}config.json`]: () => new Response("", { status }) });
    await expect(files.open("config.json")).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("another status, a lost connection and a broken body are failed downloads", async () => {
    const broken = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut off")) }));
    const files = await openFolder({
      [`${FOLDER}config.json`]: () => new Response("", { status: 503, statusText: "Busy" }),
      [`${FOLDER}merges.txt`]: () => {
        throw new TypeError("fetch failed");
      },
      [`${FOLDER}vocab.json`]: broken,
      [`${FOLDER}model.safetensors`]: broken,
    });
    const failed = (part: string, file: string) => failure("model_download_failed", part, file);
    await expect(files.readJson("config.json")).rejects.toEqual(failed("503 Busy", "config.json"));
    await expect(files.tryReadText("merges.txt")).rejects.toEqual(failed("fetch failed", "merges.txt"));
    await expect(files.readJson("vocab.json")).rejects.toEqual(failed("cut off", "vocab.json"));
    await expect(files.open("model.safetensors")).rejects.toEqual(failed("cut off", "model.safetensors"));
  });

  test("an error names the file whose JSON does not parse", async () => {
    const files = await openFolder({ [`${FOLDER}config.json`]: () => new Response('{"a":') });
    await expect(files.readJson("config.json")).rejects.toEqual(failure("model_invalid", "config.json", "config.json"));
  });

  test("an endless config is refused", async () => {
    const endless = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(2 ** 22)) }));
    const files = await openFolder({ [`${FOLDER}config.json`]: endless });
    await expect(files.readJson("config.json")).rejects.toEqual(
      failure("model_invalid", "the limit is", "config.json"),
    );
  });
});

describe("weights on a server", () => {
  const WEIGHTS = `${FOLDER}model.safetensors`;

  async function progressOf(headers: Record<string, string>, parts: readonly number[]) {
    const body = () =>
      new ReadableStream({
        start(controller) {
          for (const [i, length] of parts.entries()) controller.enqueue(new Uint8Array(length).fill(i + 1));
          controller.close();
        },
      });
    const calls: [string, number, number | null][] = [];
    const files = await openFolder({ [WEIGHTS]: () => new Response(body(), { headers }) }, (...call) => {
      calls.push(call);
    });
    const bytes = new Uint8Array(await (await files.open("model.safetensors")).arrayBuffer());
    expect(Buffer.compare(bytes, Buffer.concat(parts.map((length, i) => Buffer.alloc(length, i + 1))))).toBe(0);
    return calls.map(([, done, total]) => [done, total]);
  }

  test("report progress up to the server's length", async () => {
    expect(await progressOf({ "content-length": "5" }, [2, 3])).toEqual([
      [2, 5],
      [5, 5],
      [5, 5],
    ]);
  });

  test("have no total if the server gives no length, or that of compressed bytes", async () => {
    const unknown = [
      [2, null],
      [5, null],
      [5, 5],
    ];
    expect(await progressOf({}, [2, 3])).toEqual(unknown);
    expect(await progressOf({ "content-length": "4", "content-encoding": "gzip" }, [2, 3])).toEqual(unknown);
  });

  test("survive a length that is too small or too large, and an empty file", async () => {
    expect(await progressOf({ "content-length": "3" }, [2, 3])).toEqual([
      [2, 3],
      [5, null],
      [5, 5],
    ]);
    expect((await progressOf({ "content-length": "9" }, [2, 3])).at(-1)).toEqual([5, 5]);
    expect(await progressOf({}, [])).toEqual([[0, 0]]);
  });

  test("arrive whole when they are larger than a piece", async () => {
    const length = 5 * 2 ** 20;
    expect((await progressOf({}, [length, 10])).at(-1)).toEqual([length + 10, length + 10]);
  });

  test.each([true, false])(
    "arrive whole over a connection that breaks (the server takes ranges: %s)",
    async (ranges) => {
      const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);
      let requests = 0;
      const http = new HttpClient({
        wait: () => Promise.resolve(),
        fetch: async (_url, init) => {
          const from = Number(/bytes=(\d+)-/.exec(new Headers(init?.headers).get("range") ?? "")?.[1] ?? 0);
          const begin = ranges ? from : 0;
          const end = ++requests < 3 ? begin + 30 : bytes.length;
          let sent = false;
          const body = new ReadableStream({
            pull(controller) {
              if (!sent) controller.enqueue(bytes.slice(begin, end));
              else if (end < bytes.length) controller.error(new Error("cut off"));
              else controller.close();
              sent = true;
            },
          });
          return new Response(body, { status: begin > 0 ? 206 : 200, headers: { etag: '"a"' } });
        },
      });
      const files = openRemoteFiles(await openRemoteFolder({ type: "folder", url: FOLDER }, http), http);
      expect(new Uint8Array(await (await files.open("model.safetensors")).arrayBuffer())).toEqual(bytes);
      expect(requests).toBe(3);
    },
  );
});

describe("a folder's files", () => {
  test("are found by name, with or without folders; the one nearest the top is used", async () => {
    const files = openFileList([
      new File(["deep"], "tiny/onnx/config.json"),
      new File(["[1]"], "tiny/config.json"),
      new File(["x"], "merges.txt"),
    ]);
    expect(files.name).toBe("tiny");
    expect(await files.readJson("config.json")).toEqual([1]);
    expect(await files.tryReadText("merges.txt")).toBe("x");
    expect(await files.tryReadJson("vocab.json")).toBeUndefined();
    await expect(files.open("model.safetensors")).rejects.toEqual(
      failure("model_not_found", "no model.safetensors in the files you chose.", "model.safetensors"),
    );
    await expect(openFileList([new File(["x"], "merges.txt")]).open("config.json")).rejects.toEqual(
      failure("model_not_found", "no config.json in the file you chose.", "config.json"),
    );
    await expect(openFileList([new File(["x"], "x.onnx")]).open("config.json")).rejects.toEqual(
      failure("model_not_found", "in the file you chose: x.onnx has a format that", "config.json"),
    );
    await expect(openFileList([new File(["x"], "a/tiny/config.json")]).open("tokenizer.json")).rejects.toEqual(
      failure("model_not_found", "no tokenizer.json in the folder a/tiny.", "tokenizer.json"),
    );
  });

  test("without a folder are called model, and have their sizes", async () => {
    const onBytes = vi.fn<OnBytes>();
    const files = openFileList([new File(["abc"], "w")], onBytes);
    expect(files.name).toBe("model");
    await files.open("w");
    expect(onBytes.mock.calls).toEqual([["w", 3, 3]]);
  });
});

import { describe, expect, test, vi } from "vitest";
import type { ChorusErrorCode } from "../protocol/errors.ts";
import { openModelFiles, type OnBytes } from "./model-files.ts";

/** A server of these paths; it answers 404 for others. */
function serve(answers: Record<string, () => Response>): typeof fetch {
  return async (url) => answers[url as string]?.() ?? new Response("no", { status: 404 });
}

const json = (value: unknown) => () => new Response(JSON.stringify(value));
const failure = (code: ChorusErrorCode, part: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(part), param: "model" });

describe("a folder by URL", () => {
  test.each([
    ["https://a.example/models/tiny/", "https://a.example/models/tiny/config.json"],
    ["https://a.example/models/tiny", "https://a.example/models/tiny/config.json"],
    ["models/tiny", "https://page.example/app/models/tiny/config.json"],
    ["/models/tiny", "https://page.example/models/tiny/config.json"],
    ["models/tiny?token=1", "https://page.example/app/models/tiny/config.json?token=1"],
  ])("%s reads %s", async (source, url) => {
    const files = openModelFiles(source, {
      baseUrl: "https://page.example/app/index.html",
      fetch: serve({ [url]: json({ a: 1 }) }),
    });
    expect(files.name).toBe("tiny");
    expect(await files.readJson("config.json")).toEqual({ a: 1 });
  });

  test("a root folder has its host's name", () => {
    expect(openModelFiles("https://a.example").name).toBe("a.example");
  });

  test("a source that is no URL is refused by name", () => {
    expect(() => openModelFiles("http://")).toThrow(failure("invalid_value", '"http://"'));
    expect(() => openModelFiles("", { baseUrl: "https://a.example/" })).toThrow(failure("invalid_value", '""'));
  });

  test("a missing file is told with its URL, and may be asked for", async () => {
    const files = openModelFiles("https://a.example/m", { fetch: serve({}) });
    await expect(files.read("config.json")).rejects.toEqual(
      failure("model_not_found", "There is no https://a.example/m/config.json (the server answered 404)"),
    );
    expect(await files.tryReadJson("config.json")).toBeUndefined();
    expect(await files.tryReadText("chat_template.jinja")).toBeUndefined();
  });

  test("a web page in place of a file is told as such", async () => {
    const page = () => new Response("<!doctype html>", { headers: { "content-type": "text/html; charset=utf-8" } });
    const plain = () => new Response("<!doctype html>", { headers: { "content-type": "application/octet-stream" } });
    const files = openModelFiles("https://a.example/m", {
      fetch: serve({ "https://a.example/m/config.json": page, "https://a.example/m/plain.json": plain }),
    });
    await expect(files.readJson("config.json")).rejects.toEqual(failure("model_not_found", "a web page instead"));
    expect(await files.tryReadText("config.json")).toBeUndefined();
    await expect(files.readJson("plain.json")).rejects.toEqual(failure("model_invalid", "looks like a web page"));
  });

  test("another status, a lost connection and a broken body are failed downloads", async () => {
    const broken = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut off")) }));
    const files = openModelFiles("https://a.example/m", {
      fetch: serve({
        "https://a.example/m/config.json": () => new Response("", { status: 503, statusText: "Busy" }),
        "https://a.example/m/merges.txt": () => {
          throw new TypeError("fetch failed");
        },
        "https://a.example/m/vocab.json": broken,
      }),
    });
    await expect(files.read("config.json")).rejects.toEqual(failure("model_download_failed", "503 Busy"));
    await expect(files.tryReadText("merges.txt")).rejects.toEqual(failure("model_download_failed", "fetch failed"));
    await expect(files.read("vocab.json")).rejects.toEqual(failure("model_download_failed", "cut off"));
  });

  test("JSON that does not parse is told with its file", async () => {
    const files = openModelFiles("https://a.example/m", {
      fetch: serve({ "https://a.example/m/config.json": () => new Response('{"a":') }),
    });
    await expect(files.readJson("config.json")).rejects.toEqual(failure("model_invalid", "config.json"));
  });
});

describe("progress", () => {
  async function progressOf(headers: Record<string, string>, parts: readonly number[]) {
    const body = () =>
      new ReadableStream({
        start(controller) {
          for (const [i, length] of parts.entries()) controller.enqueue(new Uint8Array(length).fill(i + 1));
          controller.close();
        },
      });
    const calls: [string, number, number | null][] = [];
    const files = openModelFiles("https://a.example/m", {
      fetch: serve({ "https://a.example/m/w": () => new Response(body(), { headers }) }),
      onBytes: (...call) => calls.push(call),
    });
    const bytes = await files.read("w");
    expect([...bytes]).toEqual(parts.flatMap((length, i) => Array.from({ length }, () => i + 1)));
    return calls;
  }

  test("counts up to the length that the server says", async () => {
    expect(await progressOf({ "content-length": "5" }, [2, 3])).toEqual([
      ["w", 2, 5],
      ["w", 5, 5],
      ["w", 5, 5],
    ]);
  });

  test("has no total without a length, or with one of compressed bytes", async () => {
    const unknown = [
      ["w", 2, null],
      ["w", 5, null],
      ["w", 5, 5],
    ];
    expect(await progressOf({}, [2, 3])).toEqual(unknown);
    expect(await progressOf({ "content-length": "4", "content-encoding": "gzip" }, [2, 3])).toEqual(unknown);
  });

  test("survives a length that turns out too small or too large, and an empty file", async () => {
    expect(await progressOf({ "content-length": "3" }, [2, 3])).toEqual([
      ["w", 2, 3],
      ["w", 5, null],
      ["w", 5, 5],
    ]);
    expect((await progressOf({ "content-length": "9" }, [2, 3])).at(-1)).toEqual(["w", 5, 5]);
    expect(await progressOf({}, [])).toEqual([["w", 0, 0]]);
  });

  test("a body larger than the first buffer arrives whole", async () => {
    expect((await progressOf({}, [70_000, 10, 200_000])).at(-1)).toEqual(["w", 270_010, 270_010]);
  });
});

describe("a folder's files", () => {
  test("are found by name, with or without folders, the least deep first", async () => {
    const files = openModelFiles([
      new File(["deep"], "tiny/onnx/config.json"),
      new File(["[1]"], "tiny/config.json"),
      new File(["x"], "merges.txt"),
    ]);
    expect(files.name).toBe("tiny");
    expect(await files.readJson("config.json")).toEqual([1]);
    expect(await files.tryReadText("merges.txt")).toBe("x");
    expect(await files.tryReadJson("vocab.json")).toBeUndefined();
    await expect(files.read("model.safetensors")).rejects.toEqual(
      failure("model_not_found", "no model.safetensors among the 3"),
    );
  });

  test("without a folder are called model, and tell their progress", async () => {
    const onBytes = vi.fn<OnBytes>();
    const files = openModelFiles([new File(["abc"], "w")], { onBytes });
    expect(files.name).toBe("model");
    await files.read("w");
    expect(onBytes.mock.calls).toEqual([["w", 3, 3]]);
  });
});

// The library as a web developer meets it: one script that imports one file.

import { expect, test, type JSHandle, type Page } from "playwright/test";
import type { ChorusEngine } from "../src/protocol/engine.ts";
import { createEngine, openBarePage } from "./support/library.ts";
import { StaticSite } from "./support/static-site.ts";

const greedy = { temperature: 0, max_tokens: 24 };

test("a page that is nothing but one module script generates text, served from a path that the build does not know", async ({
  page,
}) => {
  const site = await StaticSite.open("dist");
  try {
    await openBarePage(
      page,
      site.url,
      `<script type="module">
        import { createEngine } from "./lib/chorus.js";
        const engine = await createEngine({ model: "./models/chorus-chat/" });
        const answer = await engine.chat.completions.create({
          messages: [{ role: "user", content: "What is the capital of France?" }],
          temperature: 0,
        });
        document.body.textContent = answer.choices[0].message.content;
      </script>`,
    );
    await expect(page.locator("body")).toContainText("Paris");
  } finally {
    await site.switchOff();
  }
});

/** Served from the root. */
test.describe("on one engine", () => {
  let page: Page;
  let engine: JSHandle<ChorusEngine>;
  test.beforeAll(async ({ browser }) => {
    page = await browser.newPage();
    await openBarePage(page);
    engine = await createEngine(page);
  });
  test.afterAll(() => page.close());

  test("a stream's chunks make up the text that a whole response has", async () => {
    const { pieces, whole, reasons } = await engine.evaluate(async (engine, fields) => {
      const body = { prompt: "Once upon a time", ...fields };
      const pieces: string[] = [];
      const reasons: (string | null)[] = [];
      for await (const chunk of await engine.completions.create({ ...body, stream: true })) {
        for (const choice of chunk.choices) {
          pieces.push(choice.text);
          reasons.push(choice.finish_reason);
        }
      }
      const whole = await engine.completions.create(body);
      return { pieces, whole: whole.choices[0]?.text, reasons };
    }, greedy);
    expect(pieces.filter((piece) => piece !== "").length).toBeGreaterThan(5);
    expect(pieces.join("")).toBe(whole);
    expect(reasons.at(-1)).toBe("length");
    expect(reasons.slice(0, -1).every((reason) => reason === null)).toBe(true);
  });

  test("an abort signal ends its request and no other, and frees its cache", async () => {
    const seen = await engine.evaluate(async (engine) => {
      const long = { prompt: "Once upon a time", temperature: 0, ignore_eos: true, max_tokens: 200 };
      const { num_gpu_blocks_free: freeBefore } = await engine.stats();
      const abort = new AbortController();
      const other = engine.completions.create(long);
      let chunks = 0;
      let error: unknown;
      try {
        for await (const _ of await engine.completions.create({ ...long, stream: true }, { signal: abort.signal })) {
          if (++chunks === 3) abort.abort();
        }
      } catch (thrown) {
        error = thrown;
      }
      const kept = await other;
      const stats = await engine.stats();
      return {
        chunks,
        errorName: error instanceof Error ? error.name : null,
        otherTokens: kept.usage?.completion_tokens,
        isWhole: stats.num_gpu_blocks_free === freeBefore && stats.num_requests_running === 0,
      };
    });
    expect(seen.chunks).toBeLessThan(50);
    expect(seen.errorName).toBe("AbortError");
    expect(seen.otherTokens).toBe(200);
    expect(seen.isWhole).toBe(true);
  });

  test("a refused request gets a typed error that names the field, and other requests continue", async () => {
    const { errors, otherTokens } = await engine.evaluate(async (engine) => {
      const other = engine.completions.create({ prompt: "Once", ignore_eos: true, max_tokens: 40 });
      const bodies: unknown[] = [
        { prompt: "x", temprature: 1 },
        { prompt: "x", temperature: -1 },
        { prompt: "x", max_tokens: "many" },
        {},
        { prompt: "long ".repeat(2000) },
      ];
      const refuse = async (body: unknown) => {
        try {
          await engine.completions.create(body as { prompt: string });
          return null;
        } catch (error) {
          const { name, code, param, message } = error as Error & { code: string; param: string | null };
          return { name, code, param, message, isError: error instanceof Error };
        }
      };
      const errors = await Promise.all(bodies.map(refuse));
      return { errors, otherTokens: (await other).usage?.completion_tokens };
    });
    expect(errors.map((error) => [error?.code, error?.param])).toEqual([
      ["unknown_parameter", "temprature"],
      ["invalid_value", "temperature"],
      ["invalid_type", "max_tokens"],
      ["missing_required_parameter", "prompt"],
      ["context_length_exceeded", "prompt"],
    ]);
    for (const error of errors) {
      expect(error).toMatchObject({ name: "ChorusError", isError: true });
      expect(error?.message).toMatch(/\w+ .*\w+/);
    }
    expect(otherTokens).toBe(40);
  });

  test("a missing model and an unknown config field are refused by name", async () => {
    const refused = (config: Record<string, unknown>) =>
      createEngine(page, config).then(
        () => "created",
        (error: Error) => error.message,
      );
    expect(await refused({ model: "models/not-there/" })).toContain("not-there");
    expect(await refused({ maxNumSeq: 4 })).toContain("maxNumSeq");
  });

  test("dispose rejects what is open and ends the workers", async () => {
    // The engine's, and its thread of texts.
    await expect.poll(() => page.workers().length).toBe(2);
    const codes = await engine.evaluate(async (engine) => {
      const body = { prompt: "Once", ignore_eos: true, max_tokens: 200 };
      const codeOf = (promise: Promise<unknown>) =>
        promise.then(
          () => "fulfilled",
          (error: { code?: string }) => error.code,
        );
      const open = codeOf(engine.completions.create(body));
      await engine.dispose();
      return [await open, await codeOf(engine.completions.create(body)), await codeOf(engine.dispose())];
    });
    expect(codes).toEqual(["engine_disposed", "engine_disposed", "fulfilled"]);
    await expect.poll(() => page.workers().length).toBe(0);
  });
});

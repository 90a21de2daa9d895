import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { answerThrough, declineThrough } from "./page-api.ts";
import { createHandler } from "../../http/handler.ts";
import type { Handler } from "../../http/served-engine.ts";
import { openFakeModel, type FakeModel } from "../../../tests/fakes/fake-model.ts";
import { answerApi, apiPath, type PageClient } from "./answer-api.ts";

const SCOPE = "https://host.example/some/where/";
const CHAT = { messages: [{ role: "user", content: "Hello" }], max_tokens: 4, ignore_eos: true };

let fake: FakeModel;
beforeEach(async () => void (fake = await openFakeModel()));
afterEach(() => fake.engine.dispose());

const post = (body: object, init: RequestInit = {}) =>
  new Request(`${SCOPE}v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    ...init,
  });

const pageThat = (take: (port: MessagePort) => void): PageClient => ({
  postMessage: (_, [port]) => port && take(port),
});
const answering = (handler: Handler = createHandler(fake.engine)) => pageThat((port) => answerThrough(port, handler));
const declining = pageThat(declineThrough);
const silent = pageThat(() => undefined);

function ask(request: Request, pages: readonly PageClient[], patienceMs = 200): Promise<Response> {
  return answerApi(request, apiPath(request.url, SCOPE) ?? "", SCOPE, pages, patienceMs);
}

describe("the API of an origin", () => {
  it("has the paths below v1/ of the worker's scope", () => {
    expect(apiPath(`${SCOPE}v1/models?x=1`, SCOPE)).toBe("/v1/models?x=1");
    for (const url of [
      `${SCOPE}models/v1/x`,
      "https://host.example/v1/models",
      "https://other.example/some/where/v1/x",
    ]) {
      expect(apiPath(url, SCOPE)).toBeNull();
    }
  });

  it("is answered by the page that says so, whole and streamed", async () => {
    const pages = [silent, declining, answering()];
    const models = await ask(new Request(`${SCOPE}v1/models`), pages);
    expect(await models.json()).toMatchObject({ data: [{ id: fake.engine.model.name }] });
    const whole = await ask(post({ ...CHAT, seed: 1 }), pages);
    const { choices } = (await whole.json()) as { choices: { message: { content: string } }[] };
    const streamed = await ask(post({ ...CHAT, seed: 1, stream: true }), pages);
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    const text = await streamed.text();
    const said = [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, part]) => JSON.parse(`"${part}"`) as string,
    );
    expect(said.join("")).toBe(choices[0]?.message.content);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("is unavailable where no page answers, at once if all say so", async () => {
    const before = performance.now();
    for (const pages of [[], [declining], [declining, declining]]) {
      const response = await ask(post(CHAT), pages, 5000);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await response.json()).toMatchObject({
        error: { code: "no_tab", message: expect.stringContaining(SCOPE) },
      });
    }
    expect(performance.now() - before).toBeLessThan(2000);
    expect((await ask(post(CHAT), [silent], 20)).status).toBe(503);
  });

  it("passes the engine's refusals on, and takes JSON alone", async () => {
    expect((await ask(post({ ...CHAT, temperature: 9 }), [answering()])).status).toBe(400);
    expect((await ask(post(CHAT, { headers: { "content-type": "text/plain" } }), [answering()])).status).toBe(415);
  });

  it("ends the request when the reader leaves, or aborts", async () => {
    const endless = { ...CHAT, max_tokens: 40, stream: true };
    const left = await ask(post(endless), [answering()]);
    const numAborted = async () => (await fake.engine.stats()).request_success_total.abort;
    await left.body?.cancel();
    await expect.poll(numAborted).toBe(1);
    const abort = new AbortController();
    fake.pause();
    const asked = ask(post(endless, { signal: abort.signal }), [answering()]);
    await expect.poll(async () => (await fake.engine.stats()).num_requests_running).toBe(1);
    abort.abort();
    await expect.poll(numAborted).toBe(2);
    fake.resume();
    void asked.catch(() => undefined);
  });

  it("is read at the reader's pace", async () => {
    let numMade = 0;
    const handler: Handler = async () =>
      new Response(
        new ReadableStream<Uint8Array>(
          { pull: (controller) => (numMade++, controller.enqueue(new Uint8Array(10))) },
          { highWaterMark: 0 },
        ),
      );
    const response = await ask(post(CHAT), [answering(handler)]);
    const reader = response.body!.getReader();
    for (let i = 0; i < 3; i++) expect((await reader.read()).value).toHaveLength(10);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(numMade).toBeLessThan(6);
    await reader.cancel();
  });

  it("breaks off where the page's answer does", async () => {
    const handler: Handler = async () => {
      throw new Error("The engine is gone.");
    };
    await expect(ask(post(CHAT), [answering(handler)])).rejects.toThrow("The engine is gone.");
  });
});

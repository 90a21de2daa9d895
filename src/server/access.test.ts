import { describe, expect, it } from "vitest";

import { withApiKey, withCors, withHostNames, withJsonBodies } from "./access.ts";

const answered = () => Promise.resolve(new Response("yes"));
const request = (headers: Record<string, string> = {}, init: RequestInit = {}, path = "/v1/models") =>
  new Request(`http://chorus.test${path}`, { headers, ...init });

describe("a key", () => {
  const handler = withApiKey(answered, "secret");
  it.each([
    [{}, 401],
    [{ authorization: "Bearer secre" }, 401],
    [{ authorization: "Bearer secret2" }, 401],
    [{ authorization: "Bearer terces" }, 401],
    [{ authorization: "secret" }, 401],
    [{ authorization: "Bearer secret" }, 200],
    [{ authorization: "bearer secret" }, 200],
    [{ authorization: "Bearer" }, 401],
  ])("%j: %i", async (headers, status) => {
    expect((await handler(request(headers))).status).toBe(status);
  });

  it("is not asked for whether the server is alive, and its lack is OpenAI's error", async () => {
    expect((await handler(request({}, {}, "/health"))).status).toBe(200);
    const refused = await handler(request());
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refused.json()).toMatchObject({ error: { type: "authentication_error", code: "invalid_api_key" } });
    const wrong = (await (await handler(request({ authorization: "Bearer x" }))).json()) as { error: object };
    expect(wrong.error).toMatchObject({ message: "The key that was given is not this server's." });
  });
});

describe("CORS", () => {
  const preflight = { method: "OPTIONS" };
  const asks = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,x-stainless-os",
  };

  it("lets one origin ask and read, and no other", async () => {
    const handler = withCors(answered, "https://app.example");
    const before = await handler(request({ origin: "https://app.example", ...asks }, preflight));
    expect([before.status, before.headers.get("access-control-allow-headers")]).toEqual([
      204,
      "authorization,x-stainless-os",
    ]);
    const response = await handler(request({ origin: "https://app.example" }));
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(response.headers.get("vary")).toBe("origin");
    const other = await handler(request({ origin: "https://app.example.evil" }));
    expect(other.headers.has("access-control-allow-origin")).toBe(false);
    expect((await handler(request())).headers.has("access-control-allow-origin")).toBe(false);
  });

  it("lets all origins where that was asked for", async () => {
    const response = await withCors(answered, "*")(request({ origin: "https://any.example" }));
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });
});

it("bodies must be declared as JSON", async () => {
  const handler = withJsonBodies(answered);
  const post = { method: "POST", body: "{}" };
  expect((await handler(request({}, post))).status).toBe(415);
  expect((await handler(request({ "content-type": "text/plain" }, post))).status).toBe(415);
  expect((await handler(request({ "content-type": "Application/JSON; charset=utf-8" }, post))).status).toBe(200);
  expect((await handler(request())).status).toBe(200);
});

it.each([
  ["localhost:8000", 200],
  ["[::1]:8000", 200],
  ["evil.example:8000", 403],
  ["", 403],
])("a server of this machine answers under its own names alone: %s", async (host, status) => {
  const handler = withHostNames(answered, (name) => ["localhost", "::1"].includes(name));
  const requested = { url: "http://a/", headers: new Headers({ host }) } as Request;
  expect((await handler(requested)).status).toBe(status);
});

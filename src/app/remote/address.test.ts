import { describe, expect, it } from "vitest";

import { addressSpaceOf, normaliseAddress, rootOf } from "./address.ts";

describe("an address", () => {
  it.each([
    ["http://localhost:8000", "http://localhost:8000/v1"],
    ["http://localhost:8000/", "http://localhost:8000/v1"],
    ["http://localhost:8000/v1", "http://localhost:8000/v1"],
    ["http://localhost:8000/v1/", "http://localhost:8000/v1"],
    ["http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1"],
    ["https://host.example/v1/models?x=1#y", "https://host.example/v1"],
    [" localhost:11434 ", "http://localhost:11434/v1"],
    ["127.0.0.1:8080", "http://127.0.0.1:8080/v1"],
    ["192.168.1.5:8000/v1", "http://192.168.1.5:8000/v1"],
    ["[::1]:8000", "http://[::1]:8000/v1"],
    ["workstation.local:1234", "http://workstation.local:1234/v1"],
    ["host.example", "https://host.example/v1"],
    ["https://openrouter.ai/api", "https://openrouter.ai/api/v1"],
    ["https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"],
    ["https://host.example/v1beta/openai/chat/completions", "https://host.example/v1beta/openai"],
    ["https://host.example/v1beta/openai", "https://host.example/v1beta/openai"],
    ["HTTPS://Host.Example/V1X", "https://host.example/V1X/v1"],
  ])("%s becomes %s", (text, baseUrl) => expect(normaliseAddress(text)).toBe(baseUrl));

  it.each(["", "  ", "two words", "ftp://host/v1", "javascript://x", "https://me:secret@host/v1", "http://"])(
    "%s is refused",
    (text) => expect(() => normaliseAddress(text)).toThrow(expect.objectContaining({ param: "address" })),
  );

  it("has a root beside its version", () => {
    expect(rootOf("http://localhost:8000/v1")).toBe("http://localhost:8000");
    expect(rootOf("https://host/api/v1")).toBe("https://host/api");
  });

  it.each([
    ["http://localhost/v1", "loopback"],
    ["http://127.8.0.1/v1", "loopback"],
    ["http://[::1]/v1", "loopback"],
    ["http://10.1.2.3/v1", "local"],
    ["http://172.16.0.1/v1", "local"],
    ["http://[fd00::1]/v1", "local"],
    ["http://printer/v1", "local"],
    ["http://172.15.0.1/v1", "public"],
    ["https://host.example/v1", "public"],
  ] as const)("%s is %s", (url, space) => expect(addressSpaceOf(url)).toBe(space));
});

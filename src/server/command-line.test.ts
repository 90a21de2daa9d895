import { describe, expect, it } from "vitest";

import { parseCommandLine } from "./command-line.ts";

const parse = (line: string, env = {}) => parseCommandLine(line.split(" "), env);

describe("a command line", () => {
  it("says what to serve, and where", () => {
    expect(parse("--model a/b")).toEqual({
      model: "a/b",
      port: 8000,
      host: "127.0.0.1",
      backend: "auto",
      apiKey: null,
      cors: null,
    });
    const all = parse("--model=x=y --port 0 --host 0.0.0.0 --backend cpu --api-key k --cors https://app.example/");
    expect(all).toEqual({
      model: "x=y",
      port: 0,
      host: "0.0.0.0",
      backend: "cpu",
      apiKey: "k",
      cors: "https://app.example",
    });
    expect(parse("--model x --host 0.0.0.0", { CHORUS_API_KEY: "k" })).toMatchObject({ apiKey: "k" });
    expect(parse("--model x --host :: --allow-anyone")).toMatchObject({ host: "::", apiKey: null });
    expect(parse("--model x --cors *")).toMatchObject({ cors: "*" });
    expect(parse("--modle x --help".replace("--modle x ", ""))).toBe("help");
  });

  it.each([
    ["--port 1", /--model/],
    ["model", /belongs to no option/],
    ["--modle x", /Did you mean --model\?/],
    ["--backnd cpu", /Did you mean --backend\?/],
    ["--prot 1", /Did you mean --port\?/],
    ["--zzz", /See --help/],
    ["-p 1", /no option -p/],
    ["-- --model x", /"--" belongs to no option/],
    ["--model", /needs a value/],
    ["--model --port 1", /--model needs a value/],
    ["--model a --model b", /twice/],
    ["--help=yes", /takes no value/],
    ["--model a --port 65536", /0 to 65535/],
    ["--model a --port 1e3", /0 to 65535/],
    ["--model a --backend gpu", /one of auto, webgpu, cpu/],
    ["--model a --cors app.example", /an origin/],
    ["--model a --cors https://app.example/path", /an origin/],
    ["--model a --api-key=", /empty/],
    ["--model a --host 0.0.0.0", /--allow-anyone/],
    ["--model a --host 127.evil.example", /--allow-anyone/],
  ])("that is wrong is refused: %s", (line, message) => {
    expect(() => parse(line)).toThrow(
      expect.objectContaining({ name: "UsageError", message: expect.stringMatching(message) }),
    );
  });
});

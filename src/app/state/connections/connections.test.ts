import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { answerJson, playBack, ScriptedServer, type Script } from "../../../../tests/remote/scripted-server.ts";
import { TRANSCRIPTS } from "../../../../tests/remote/transcripts.ts";
import { Connections, remoteName } from "./connections.ts";

const PAGE = { origin: "http://app.example", permission: async () => null };
const observer = { sent() {}, received() {}, retrying() {}, ended() {} };
const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

const open = () => new Connections({ observer, page: PAGE });

describe("connections", () => {
  it("are kept without their keys, unless that was asked for", () => {
    const connections = open();
    connections.add("localhost:8000", " secret ", false);
    connections.add("https://host.example/v1/chat/completions", "other", true);
    expect([...kept.values()].join(" ")).not.toContain("secret");
    const again = open().store.getState().connections;
    expect(again.map(({ baseUrl, key, isKeyKept }) => [baseUrl, key, isKeyKept])).toEqual([
      ["http://localhost:8000/v1", null, false],
      ["https://host.example/v1", "other", true],
    ]);
    connections.add("https://host.example", "other", false);
    expect([...kept.values()].join(" ")).not.toContain("other");
    expect(connections.store.getState().connections).toHaveLength(2);
  });

  it("of one host have names of their own, as short as an address can be", () => {
    const addresses = [
      "api.example",
      "http://api.example",
      "api.example/openai",
      "api.example/openai/v2",
      "localhost:8000",
      "https://localhost:8000/v1",
    ];
    const connections = open();
    const names = addresses.map((address) => remoteName({ baseUrl: connections.add(address, "", false), model: "m" }));
    expect(names).toEqual([
      "m at api.example",
      "m at http://api.example",
      "m at api.example/openai",
      "m at api.example/openai/v2",
      "m at localhost:8000",
      "m at https://localhost:8000",
    ]);
    // An imported chat may name anything.
    expect(remoteName({ baseUrl: "no address", model: "m" })).toBe("m at no address");
  });

  it("are forgotten with the spill-over that used them", () => {
    const connections = open();
    const baseUrl = connections.add("host.example", "", false);
    connections.addModel(baseUrl, " m ");
    connections.addModel(baseUrl, "m");
    connections.addModel(baseUrl, "");
    expect(connections.find(baseUrl)?.models).toEqual(["m"]);
    connections.spillTo({ baseUrl, model: "m", limitS: 10 });
    expect(open().store.getState().spillOver).toEqual({ baseUrl, model: "m", limitS: 10 });
    connections.remove(baseUrl);
    expect(open().store.getState()).toEqual({ connections: [], spillOver: null });
  });

  it("start empty where what was kept is damaged", () => {
    for (const damaged of ["{", "[]", '{"connections":[{"baseUrl":1}],"spillOver":null}']) {
      kept.set("chorus.connections", damaged);
      expect(open().store.getState()).toEqual({ connections: [], spillOver: null });
    }
  });

  it("find a server's models and its software by a test, with the key", async () => {
    const list = { data: [{ id: "a", owned_by: "vllm" }, { id: "b" }] };
    const script: Script = (request, response) =>
      request.path === "/v1/models"
        ? answerJson(200, list)(request, response)
        : playBack(TRANSCRIPTS["vllm"]?.chat ?? "")(request, response);
    await using server = await ScriptedServer.start(script);
    const connections = open();
    const baseUrl = connections.add(server.baseUrl, "secret", false);
    const tested = connections.test(baseUrl);
    expect(connections.find(baseUrl)?.test).toBe("running");
    await tested;
    expect(connections.find(baseUrl)?.test).toMatchObject({ problem: null, message: "a answers." });
    expect(connections.find(baseUrl)?.models).toEqual(["a", "b"]);
    const remote = { baseUrl, model: "b" };
    expect(connections.softwareOf(remote).title).toBe("vLLM");
    expect(server.requests.every(({ headers }) => headers.authorization === "Bearer secret")).toBe(true);
    expect((await connections.open(remote)).model.name).toBe("b");
    expect(remoteName(remote)).toBe(`b at ${server.host}`);
  });

  it("say what is wrong with an address, and open none that they don't have", async () => {
    expect(() => open().add("two words", "", false)).toThrow(/is not an address/);
    await expect(open().open({ baseUrl: "https://host.example/v1", model: "m" })).rejects.toThrow(/no connection to/);
  });
});

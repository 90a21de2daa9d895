import type { Script } from "./scripted-server.ts";

interface McpScript {
  /** Pages of its list. */
  readonly pages?: readonly (readonly object[])[];
  /** What a call returns; null: it never answers. */
  readonly call?: (name: string, args: unknown) => object | null;
  /** Answers as server-sent events, after a message of another kind. */
  readonly isStream?: boolean;
  /** Wants each request to name this session, which can change. */
  readonly session?: { id: string };
  readonly key?: string;
}

const HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type, mcp-session-id, mcp-protocol-version",
  "access-control-expose-headers": "mcp-session-id",
};

/** An MCP server over streamable HTTP. */
export function mcpScript({ pages = [[]], call = () => null, isStream, session, key }: McpScript): Script {
  return ({ method: verb, headers, body }, response) => {
    const end = (status: number, text = "", more: Record<string, string> = {}) =>
      void response.writeHead(status, { ...HEADERS, ...more }).end(text);
    if (verb === "OPTIONS") return end(204);
    if (key !== undefined && headers.authorization !== `Bearer ${key}`) return end(401);
    const { id, method, params = {} } = body as { id?: string; method: string; params?: Record<string, unknown> };
    if (method !== "initialize" && session && headers["mcp-session-id"] !== session.id) return end(404);
    if (id === undefined) return end(202);
    const page = Number(params["cursor"] ?? 0);
    const result =
      method === "initialize"
        ? { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "fake", version: "1" } }
        : method === "tools/list"
          ? { tools: pages[page], ...(page + 1 < pages.length && { nextCursor: String(page + 1) }) }
          : call(String(params["name"]), params["arguments"]);
    if (result === null) return;
    const answer = "code" in result ? { error: result } : { result };
    const text = JSON.stringify({ jsonrpc: "2.0", id, ...answer });
    const other = JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } });
    const started: Record<string, string> = method === "initialize" && session ? { "mcp-session-id": session.id } : {};
    if (isStream) end(200, `data: ${other}\n\ndata: ${text}\n\n`, { ...started, "content-type": "text/event-stream" });
    else end(200, text, { ...started, "content-type": "application/json" });
  };
}

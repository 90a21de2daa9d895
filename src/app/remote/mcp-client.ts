// A client of a server of tools: the Model Context Protocol over streamable HTTP.

import { parseJson, randomId } from "../../index.ts";
import { attempt } from "../attempt.ts";
import { askServer, type ServerAccess } from "./ask-server.ts";
import { fieldsOf, listOf, textOf, type SentFields as Fields } from "./fields-of.ts";
import { readEvents } from "./read-events.ts";
import { readText } from "./read-text.ts";
import { RemoteError } from "./remote-error.ts";

export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** A JSON schema of its arguments. */
  readonly inputSchema: { readonly [keyword: string]: unknown };
}

const VERSION = "2025-06-18";
/** Longest time for the list and for a call, milliseconds. */
const LIST_MS = 20_000;
const CALL_MS = 60_000;
const MAX_BYTES = 4 * 2 ** 20;
const MAX_TOOLS = 128;
const MAX_PAGES = 16;

/** The tools of a server, at its connection's address. */
export class McpClient {
  readonly #access: ServerAccess;
  readonly #host: string;
  readonly #patienceMs: { readonly list: number; readonly call: number };
  /** The headers of its session; null before it begins. */
  #session: Promise<Record<string, string>> | null = null;

  constructor(access: ServerAccess, patienceMs = { list: LIST_MS, call: CALL_MS }) {
    this.#access = access;
    this.#host = new URL(access.baseUrl).host;
    this.#patienceMs = patienceMs;
  }

  /** @throws RemoteError; the signal's reason */
  async listTools(signal?: AbortSignal): Promise<readonly McpTool[]> {
    const tools: McpTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      // oxlint-disable-next-line no-await-in-loop -- each page names the next
      const list = await this.#ask("tools/list", cursor === undefined ? {} : { cursor }, this.#patienceMs.list, signal);
      if (!Array.isArray(list["tools"])) throw this.#invalid("sent no list of tools");
      tools.push(...list["tools"].flatMap(toolOf));
      cursor = list["nextCursor"];
      if (typeof cursor !== "string" || tools.length >= MAX_TOOLS) break;
    }
    return tools.slice(0, MAX_TOOLS);
  }

  /** Returns what a tool returned, as text. @throws RemoteError; the signal's reason */
  async callTool(name: string, args: Fields, signal?: AbortSignal): Promise<string> {
    const result = await this.#ask("tools/call", { name, arguments: args }, this.#patienceMs.call, signal);
    const texts = listOf(result["content"])
      .map(fieldsOf)
      .map((part) => (typeof part["text"] === "string" ? part["text"] : `[${String(part["type"])}]`));
    const structured = result["structuredContent"];
    const text = texts.length > 0 || structured === undefined ? texts.join("\n") : JSON.stringify(structured);
    return result["isError"] === true ? `Error: ${text}` : text;
  }

  /** Asks within a session, and once more in a new one where the server has ended it. */
  async #ask(method: string, params: Fields, patienceMs: number, signal?: AbortSignal): Promise<Fields> {
    const patience = AbortSignal.timeout(patienceMs);
    const either = signal ? AbortSignal.any([signal, patience]) : patience;
    try {
      const headers = await (this.#session ??= this.#begin(either));
      try {
        return await this.#request(method, params, headers, either);
      } catch (error) {
        if (!isNotFound(error) || headers["mcp-session-id"] === undefined) throw error;
        return await this.#request(method, params, await (this.#session = this.#begin(either)), either);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (patience.aborted) {
        const message = `${this.#host} has not answered ${method} within ${patienceMs / 1000} seconds.`;
        throw new RemoteError("server_failed", message, { cause: error });
      }
      throw isNotFound(error)
        ? this.#invalid("is no MCP server over HTTP at this address. It often ends in /mcp")
        : error;
    }
  }

  async #begin(signal: AbortSignal): Promise<Record<string, string>> {
    try {
      const clientInfo = { name: "chorus", version: "0.1.0" };
      const headers: Record<string, string> = {};
      const hello = { protocolVersion: VERSION, capabilities: {}, clientInfo };
      const { protocolVersion } = await this.#request("initialize", hello, headers, signal, (response) => {
        const session = response.headers.get("mcp-session-id");
        if (session !== null) headers["mcp-session-id"] = session;
      });
      headers["mcp-protocol-version"] = typeof protocolVersion === "string" ? protocolVersion : VERSION;
      const response = await this.#post({ method: "notifications/initialized" }, headers, signal);
      await response.body?.cancel();
      return headers;
    } catch (error) {
      this.#session = null;
      throw error;
    }
  }

  async #request(
    method: string,
    params: Fields,
    headers: Record<string, string>,
    signal: AbortSignal,
    onResponse: (response: Response) => void = () => undefined,
  ): Promise<Fields> {
    const id = randomId();
    const response = await this.#post({ id, method, params }, headers, signal);
    onResponse(response);
    for await (const text of this.#messages(response)) {
      const message = [attempt(() => parseJson(text), null)]
        .flat()
        .map(fieldsOf)
        .find((one) => one["id"] === id);
      if (message === undefined) continue;
      if (message["error"] === undefined) return fieldsOf(message["result"]);
      throw new RemoteError(
        "server_refused",
        `${this.#host}: ${String(fieldsOf(message["error"])["message"]).slice(0, 400)}`,
      );
    }
    throw this.#invalid(`ended without an answer to ${method}`);
  }

  #post(message: Fields, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const accept = "application/json, text/event-stream";
    return askServer(this.#access, this.#access.baseUrl, {
      method: "POST",
      body,
      headers: { ...headers, accept },
      signal,
    });
  }

  async *#messages(response: Response): AsyncGenerator<string, void> {
    if (/event-stream/i.test(response.headers.get("content-type") ?? "")) {
      let numBytes = 0;
      for await (const data of readEvents(response, this.#host, this.#patienceMs.call)) {
        numBytes += data.length;
        if (numBytes > MAX_BYTES) throw this.#invalid("sends without end");
        yield data;
      }
    } else yield await readText(response, MAX_BYTES);
  }

  #invalid(what: string): RemoteError {
    return new RemoteError("server_answer_invalid", `${this.#host} ${what}.`);
  }
}

/** Returns whether the server knows no such address, or no such session. */
function isNotFound(error: unknown): boolean {
  return error instanceof RemoteError && error.isMissing;
}

function toolOf(value: unknown): McpTool[] {
  const { name, description, inputSchema } = fieldsOf(value);
  if (typeof name !== "string" || name === "") return [];
  return [{ name, description: textOf(description), inputSchema: fieldsOf(inputSchema) }];
}

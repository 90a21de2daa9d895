import { ChorusError, parseJson, toErrorData, type ChatTool } from "../../../index.ts";
import { McpClient, type McpTool } from "../../remote/mcp-client.ts";
import { argumentsIn, BY_PAGE, BY_PERSON, type Call } from "../chat/tool-rounds.ts";
import type { Connections } from "../connections/connections.ts";
import type { Settings } from "../settings/settings.ts";
import type { SavedChat } from "../workspace/saved-workspace.ts";
import { calculate } from "./calculator.ts";
import { searchChats } from "./search-chats.ts";

export interface Tool {
  readonly definition: ChatTool;
  /** Who runs it, as `Call.from`. */
  readonly from: string;
}

export interface CallPlace {
  /** The chat that calls. */
  readonly chatId: string;
  /** Who reads the result; null: a server. */
  readonly engine: { readonly model: { readonly contextLength: number } } | null;
  readonly signal: AbortSignal;
}

/** Most characters of a result. A model of a small context gets as many as that has tokens. */
const MAX_RESULT = 8000;
const MAX_DESCRIPTION = 1000;

const NUMBER = String.raw`-?\d{1,9}(\.\d{1,4})?`;

/** The page's own, by the settings that switch them on. */
const OWN = {
  calculator: tool("calculator", "Computes exactly, such as (17 + 4) * 23.", {
    // Short, and in a form that can be computed whatever a tiny model writes.
    expression: {
      type: "string",
      pattern: String.raw`^(${NUMBER}( [-+*/^] ${NUMBER}){0,4}|\(${NUMBER} [-+*/] ${NUMBER}\) [-+*/] ${NUMBER})$`,
    },
  }),
  clock: tool("clock", "Tells date, time and time zone."),
  search_chats: tool("search_chats", "Finds passages with all of these words in the person's earlier chats.", {
    words: { type: "string", maxLength: 100 },
  }),
};

function tool(name: string, description: string, properties: Readonly<Record<string, object>> = {}): ChatTool {
  const required = Object.keys(properties);
  const parameters = { type: "object", properties, required, additionalProperties: false };
  return { type: "function", function: { name, description, parameters } };
}

interface Server {
  readonly key: string | null;
  readonly client: McpClient;
  /** Null until it has listed them. By the names that models know them by. */
  tools: ReadonlyMap<string, McpTool> | null;
}

export class Toolbox {
  readonly #connections: Connections;
  readonly #allChats: () => Promise<readonly SavedChat[]>;
  readonly #servers = new Map<string, Server>();

  constructor(connections: Connections, allChats: () => Promise<readonly SavedChat[]>) {
    this.#connections = connections;
    this.#allChats = allChats;
  }

  /** Returns what these settings offer. Servers are asked for their lists. @throws RemoteError */
  async open(settings: Settings, signal: AbortSignal): Promise<readonly Tool[]> {
    await Promise.all((settings.mcp_servers ?? []).map((url) => this.#listed(url.trim(), signal)));
    return this.known(settings);
  }

  /** Returns what these settings offer, as far as it is known. */
  known(settings: Settings): readonly Tool[] {
    const own = (["calculator", "clock", "search_chats"] as const).filter((name) => settings[name]);
    const typed = settings.own_tools === undefined ? [] : (parseJson(settings.own_tools) as ChatTool[]);
    return [
      ...own.map((name) => ({ definition: OWN[name], from: BY_PAGE })),
      ...typed.map((definition) => ({ definition, from: BY_PERSON })),
      ...(settings.mcp_servers ?? []).flatMap((url) => this.#toolsOf(url.trim())),
    ];
  }

  /** Runs a call. An error is a result, too. */
  async run(call: Call, place: CallPlace): Promise<string> {
    const most = Math.min(MAX_RESULT, place.engine?.model.contextLength ?? MAX_RESULT);
    const result = await this.#result(call, place).catch((error: unknown) => `Error: ${toErrorData(error).message}`);
    return result.length > most ? `${result.slice(0, most)}… (${result.length - most} more characters)` : result;
  }

  async #result({ name, arguments: text, from }: Call, { chatId, signal }: CallPlace): Promise<string> {
    const args = argumentsIn(text) ?? {};
    const wordOf = (field: string) => (typeof args[field] === "string" ? args[field] : "");
    if (from === BY_PAGE && name === "calculator") return calculate(wordOf("expression"));
    if (from === BY_PAGE && name === "clock") {
      return `${new Date().toString()}, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
    }
    if (from === BY_PAGE && name === "search_chats")
      return searchChats(await this.#allChats(), wordOf("words"), chatId);
    if (!URL.canParse(from)) throw new ChorusError("invalid_value", `There is no tool "${name}" here.`);
    const { client, tools } = await this.#listed(from, signal);
    const known = tools?.get(name);
    if (known === undefined) throw new ChorusError("invalid_value", `${from} has no tool "${name}" any more.`);
    return client.callTool(known.name, args, signal);
  }

  /** @throws ChorusError if this browser has no such connection: an import can't make the page contact anybody */
  async #listed(url: string, signal: AbortSignal): Promise<Server> {
    const connection = this.#connections.find(url);
    if (connection?.kind !== "tools") {
      const message = `This browser has no MCP server ${url}. Add it in "Connections", or take it out of the pane's settings.`;
      throw new ChorusError("server_unreachable", message);
    }
    const { key } = connection;
    let server = this.#servers.get(url);
    if (server?.key !== key) server = { key, client: new McpClient({ baseUrl: url, key }), tools: null };
    this.#servers.set(url, server);
    server.tools ??= named(await server.client.listTools(signal));
    return server;
  }

  #toolsOf(url: string): Tool[] {
    return Array.from(this.#servers.get(url)?.tools ?? [], ([name, { description, inputSchema }]) => ({
      definition: {
        type: "function",
        function: {
          name,
          description: description.slice(0, MAX_DESCRIPTION),
          parameters: { type: "object", ...inputSchema },
        },
      },
      from: url,
    }));
  }
}

/** Names tools as models may call them: 64 letters, digits, "_" and "-". */
function named(tools: readonly McpTool[]): ReadonlyMap<string, McpTool> {
  const byName = new Map<string, McpTool>();
  for (const each of tools) {
    const plain = each.name.replaceAll(/[^\w-]/g, "_").slice(0, 60);
    let name = plain;
    for (let number = 2; byName.has(name); number++) name = `${plain}_${number}`;
    byName.set(name, each);
  }
  return byName;
}

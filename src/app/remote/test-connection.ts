// Finds out why a server can't be used from this page. A failed fetch doesn't say why it failed, but the page's own protocol,
// the browser's permissions and a request without a readable answer show it together.

import { addressSpaceOf } from "./address.ts";
import { askServer, type ServerAccess } from "./ask-server.ts";
import { listModels, type ServerModels } from "./list-models.ts";
import { McpClient } from "./mcp-client.ts";
import { readEvents } from "./read-events.ts";
import { RemoteError } from "./remote-error.ts";
import { readChunk } from "./read-chunk.ts";

const PATIENCE_MS = 20_000;

/** The titles of what may be wrong. */
export const CONNECTION_PROBLEMS = {
  "mixed content": "Mixed content",
  permission: "The browser's permission is missing",
  CORS: "Not allowed for this page",
  unreachable: "Nothing answers",
  slow: "No answer in time",
  key: "Access refused",
  "no API": "No OpenAI API here",
  "no MCP": "No MCP server here",
  "no such model": "No such model",
  refused: "The server refuses",
} as const;
type ConnectionProblem = keyof typeof CONNECTION_PROBLEMS;

export interface ConnectionReport {
  /** Null if the connection works. */
  readonly problem: ConnectionProblem | null;
  /** Message for display: what is wrong and what to do. */
  readonly message: string;
  /** Null if the server lists none. */
  readonly found: ServerModels | null;
}

export interface PageFacts {
  /** "https://app.example" */
  readonly origin: string;
  /** Returns the state of the browser's permission; null if it has none of that name. */
  readonly permission: (name: string) => Promise<PermissionState | null>;
}

export const thisPage = (): PageFacts => ({
  origin: location.origin,
  async permission(name) {
    try {
      return (await navigator.permissions.query({ name: name as PermissionName })).state;
    } catch {
      return null;
    }
  },
});

/** Asks a server for its models and one of them for a token, or for its tools. @param what model null: the first listed */
export async function testConnection(
  access: ServerAccess,
  what: { readonly model: string | null } | { readonly tools: true },
  page: PageFacts,
  patienceMs = PATIENCE_MS,
): Promise<ConnectionReport> {
  const signal = AbortSignal.timeout(patienceMs);
  let found: ServerModels | null = null;
  try {
    if ("tools" in what) {
      const tools = await new McpClient(access).listTools(signal);
      const names = tools.map(({ name }) => name);
      const message = names.length === 0 ? "The server has no tools." : `It has the tools ${names.join(", ")}.`;
      return report(null, message, { models: names, ownedBy: null });
    }
    const { model } = what;
    found = await listModels(access, signal).catch((error: unknown) => {
      // Some servers answer chats and have no list; then the model's name must be typed.
      if (model !== null && error instanceof RemoteError && error.code === "server_answer_invalid") return null;
      throw error;
    });
    const modelName = model ?? found?.models[0] ?? null;
    if (modelName === null)
      return report("no such model", "The server lists no model. Load one there, or type its name here.", found);
    if (found && !found.models.includes(modelName))
      return report("no such model", noSuchModel(modelName, found), found);
    await askOneToken(access, modelName, signal);
    return report(null, `${modelName} answers.`, found);
  } catch (error) {
    if (signal.aborted) {
      const message = `${hostOf(access)} has not answered within ${patienceMs / 1000} seconds. It may be loading its model.`;
      return report("slow", message, found);
    }
    if (!(error instanceof RemoteError)) throw error;
    if (error.code === "server_unreachable") return { ...(await whyUnreachable(access, page, "tools" in what)), found };
    const problem = PROBLEM_OF[error.code] ?? "refused";
    return report(problem === "no API" && "tools" in what ? "no MCP" : problem, adviceFor(error, page), found);
  }
}

const PROBLEM_OF: Readonly<Record<string, ConnectionProblem>> = {
  server_access_denied: "key",
  server_answer_invalid: "no API",
  model_not_found: "no such model",
};

const hostOf = ({ baseUrl }: ServerAccess) => new URL(baseUrl).host;

function report(problem: ConnectionProblem | null, message: string, found: ServerModels | null): ConnectionReport {
  return { problem, message, found };
}

function noSuchModel(model: string, { models }: ServerModels): string {
  const some = models.slice(0, 5).map((id) => `"${id}"`);
  return `The server has no model "${model}". It has ${some.join(", ")}${models.length > 5 ? ", ..." : "."}`;
}

/** Ollama refuses foreign origins by 403, not by CORS. */
function adviceFor(error: RemoteError, { origin }: PageFacts): string {
  if (error.code !== "server_access_denied" || !error.message.includes("(403)")) return error.message;
  return `${error.message} If it is Ollama, start it with OLLAMA_ORIGINS=${origin}.`;
}

async function askOneToken(access: ServerAccess, model: string, signal: AbortSignal): Promise<void> {
  const messages = [{ role: "user", content: "Hi" }];
  const body = JSON.stringify({ model, messages, max_tokens: 1, stream: true });
  const { host } = new URL(access.baseUrl);
  const response = await askServer(access, `${access.baseUrl}/chat/completions`, { method: "POST", body, signal });
  for await (const data of readEvents(response, host, PATIENCE_MS)) {
    readChunk(data, host);
    return;
  }
}

async function whyUnreachable(
  access: ServerAccess,
  page: PageFacts,
  hasTools: boolean,
): Promise<Omit<ConnectionReport, "found">> {
  const { baseUrl, fetch = globalThis.fetch } = access;
  const { protocol, host, port } = new URL(baseUrl);
  const space = addressSpaceOf(baseUrl);
  const isMixed = page.origin.startsWith("https:") && protocol === "http:";
  const mixed = (whoRefuses: string) => {
    const message = `This page came by https, and ${whoRefuses} http://${host}. Give the server https, or open this page by http.`;
    return { problem: "mixed content", message } as const;
  };
  if (isMixed && space === "public") return mixed("browsers then refuse");
  // Requested only from a more public network to a more private one.
  const isGuarded = PRIVACY[space] > PRIVACY[addressSpaceOf(page.origin)];
  const permission = isGuarded && space !== "public" ? await networkPermission(space, page) : null;
  if (permission === "denied" || permission === "prompt") {
    const where = space === "loopback" ? "this machine" : "your local network";
    const message = `The browser does not let this page reach ${where}. Allow it in the site's settings, left of the address: "Local network access" or "Apps on device".`;
    return { problem: "permission", message };
  }
  try {
    // Without the key: another server may answer.
    await fetch(`${baseUrl}/models`, { mode: "no-cors", cache: "no-store", credentials: "omit" });
    return { problem: "CORS", message: hasTools ? mcpAdvice(host, page.origin) : corsAdvice(host, port, page.origin) };
  } catch {
    if (isMixed) return mixed("this browser then refuses");
    return { problem: "unreachable", message: `Is a server running at ${host}, and are name and port right?` };
  }
}

const PRIVACY = { public: 0, local: 1, loopback: 2 } as const;

/** Returns the permission's state; Chrome has had three names for it. */
async function networkPermission(
  space: "loopback" | "local",
  { permission }: PageFacts,
): Promise<PermissionState | null> {
  return (await permission(`${space}-network`)) ?? (await permission("local-network-access"));
}

function mcpAdvice(host: string, origin: string): string {
  return `${host} answers, but does not allow this page to read it (CORS). It must allow ${origin} with the headers authorization, content-type, mcp-session-id and mcp-protocol-version, and expose mcp-session-id.`;
}

function corsAdvice(host: string, port: string, origin: string): string {
  const advice: Readonly<Record<string, string>> = {
    "11434": `Start Ollama with OLLAMA_ORIGINS=${origin}.`,
    "1234": `In LM Studio, switch on "Enable CORS" in the server's settings.`,
    "8080": `Start llama-server with --cors-origins ${origin}.`,
  };
  const defaultText = `Start it with --cors ${origin} (Chorus), --allowed-origins '["${origin}"]' (vLLM) or its own option for CORS.`;
  return `${host} answers, but does not allow this page to read it (CORS). ${advice[port] ?? defaultText}`;
}

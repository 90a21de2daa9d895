import { normaliseAddress, shortAddress } from "../../remote/address.ts";
import type { RemoteObserver } from "../../remote/remote-answer.ts";
import type { PageFacts, ConnectionReport } from "../../remote/test-connection.ts";
import type { Answerer, RemoteModel } from "../../remote/answerer.ts";
import { ChorusError } from "../../../index.ts";
import { softwareOf, type ServerSoftware } from "../../remote/server-software.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { listOf, oneOf, optional, orNull, recordOf, text, wholeNumber, type Read } from "../read-record.ts";
import { remember, rememberedJson } from "../remembered.ts";

const KINDS = ["models", "tools"] as const;
type ConnectionKind = (typeof KINDS)[number];

const readKept = recordOf({
  kind: oneOf(...KINDS),
  /** "https://host.example/v1"; no two connections have the same. */
  baseUrl: text,
  /** Listed by the server, or typed. Of a server of tools, their names. */
  models: listOf(text),
  /** The owner in its list of models: its software. */
  ownedBy: orNull(text),
  key: optional(text),
});

/** A server of OpenAI's API, or of tools: an MCP server over streamable HTTP. */
export interface Connection extends Omit<ReturnType<typeof readKept>, "key"> {
  /** Sent to this server alone. */
  readonly key: string | null;
  /** Whether the key outlives the page. */
  readonly isKeyKept: boolean;
  /** The newest test: running, or its result. It is not kept. */
  readonly test: "running" | ConnectionReport | null;
}

/** Where new questions go when the page's own queue is long. */
export interface SpillOver extends RemoteModel {
  /** Expected wait in the local queue from which on it is used, seconds. */
  readonly limitS: number;
}

type ConnectionsState = Readonly<ReturnType<typeof readConnections>>;

export const MAX_LIMIT_S = 3600;
const NAME = "connections";
export const NO_CONNECTIONS: ConnectionsState = { connections: [], spillOver: null };

/** Keeps them in this browser: an address always, a key only on request. */
function keepConnections({ connections, spillOver }: ConnectionsState): void {
  const kept = connections.map((connection) => {
    const { key, test: _, ...rest } = connection;
    return { ...rest, ...(rest.isKeyKept && key !== null && { key }) };
  });
  remember(NAME, JSON.stringify({ connections: kept, spillOver }));
}

const readConnection: Read<Connection> = (value, path) => {
  const { key = null, ...kept } = readKept(value, path);
  return { ...kept, key, isKeyKept: key !== null, test: null };
};
const readConnections = recordOf({
  connections: listOf(readConnection),
  spillOver: orNull(recordOf({ baseUrl: text, model: text, limitS: wholeNumber(0, MAX_LIMIT_S) })),
});

interface ConnectionsOptions {
  readonly observer: RemoteObserver;
  /** The page's permissions in the network. [the browser's] */
  readonly page?: PageFacts;
  /** [the platform's] */
  readonly fetch?: typeof globalThis.fetch;
}

/** "model at address" */
export function remoteName({ baseUrl, model }: RemoteModel): string {
  return `${model} at ${shortAddress(baseUrl)}`;
}

/** The servers that can answer panes. Their client's code is loaded with the first. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #store;
  readonly store: ReadonlyStore<ConnectionsState>;

  /** @param state [those kept in this browser] */
  constructor(options: ConnectionsOptions, state = rememberedJson(NAME, readConnections, NO_CONNECTIONS)) {
    this.#options = options;
    this.store = this.#store = createStore<ConnectionsState>(() => state);
    this.#store.subscribe(keepConnections);
  }

  /** Adds a server, or changes the key of a known one. Returns its base URL. @throws ChorusError for an invalid address */
  add(address: string, key: string, isKeyKept: boolean, kind: ConnectionKind = "models"): string {
    const baseUrl = normaliseAddress(address, kind);
    const { connections } = this.#store.getState();
    const added = { kind, baseUrl, models: [], ownedBy: null, key: null, isKeyKept, test: null };
    if (this.find(baseUrl) === null) this.#store.setState({ connections: [...connections, added] });
    this.#change(baseUrl, { key: key.trim() || null, isKeyKept });
    return baseUrl;
  }

  remove(baseUrl: string): void {
    const { connections, spillOver } = this.#store.getState();
    this.#store.setState({
      connections: connections.filter((connection) => connection.baseUrl !== baseUrl),
      spillOver: spillOver?.baseUrl === baseUrl ? null : spillOver,
    });
  }

  /** Adds a model by its name, for servers that list none. */
  addModel(baseUrl: string, model: string): void {
    const name = model.trim();
    const connection = this.find(baseUrl);
    if (connection === null || name === "" || connection.models.includes(name)) return;
    this.#change(baseUrl, { models: [...connection.models, name] });
  }

  /** Sets where new questions go when the local queue is long; null for nowhere. */
  spillTo(spillOver: SpillOver | null): void {
    this.#store.setState({ spillOver });
  }

  find(baseUrl: string): Connection | null {
    return this.#store.getState().connections.find((connection) => connection.baseUrl === baseUrl) ?? null;
  }

  softwareOf({ baseUrl }: RemoteModel): ServerSoftware {
    return softwareOf(this.find(baseUrl)?.ownedBy ?? null);
  }

  /** Returns whether this answerer can go on with an answer that has begun. Null: this page's engine, which can. */
  canContinue(answerer: RemoteModel | null): boolean {
    return answerer === null || this.softwareOf(answerer).continues !== null;
  }

  /** Asks the server for its models, and one of them for a token, or for its tools. The result is in the connection. */
  async test(baseUrl: string): Promise<void> {
    const connection = this.find(baseUrl);
    if (connection === null) return;
    this.#change(baseUrl, { test: "running" });
    const { testConnection, thisPage } = await import("../../remote/test-connection.ts");
    const { page = thisPage(), fetch } = this.#options;
    const model = connection.ownedBy === null ? (connection.models[0] ?? null) : null;
    const access = { baseUrl, key: connection.key, ...(fetch && { fetch }) };
    const report = await testConnection(access, connection.kind === "tools" ? { tools: true } : { model }, page);
    const { models = [], ownedBy } = report.found ?? {};
    const found = { ...(models.length > 0 && { models }), ...(ownedBy !== undefined && { ownedBy }) };
    this.#change(baseUrl, { test: report, ...found });
  }

  /** @throws ChorusError if this browser has no such connection: an import can't make the page contact anybody */
  async open(remote: RemoteModel): Promise<Answerer> {
    const connection = this.find(remote.baseUrl);
    if (connection?.kind !== "models") {
      const message = `This browser has no connection to ${remote.baseUrl}. Add it in "Connections", or choose who else answers this pane, in its head.`;
      throw new ChorusError("server_unreachable", message);
    }
    const { RemoteEngine } = await import("../../remote/remote-engine.ts");
    return new RemoteEngine({ ...this.#options, ...connection, model: remote.model });
  }

  /** Does nothing if it was removed meanwhile. */
  #change(baseUrl: string, changes: Partial<Connection>): void {
    const { connections } = this.#store.getState();
    const isThis = (connection: Connection) => connection.baseUrl === baseUrl;
    this.#store.setState({ connections: connections.map((each) => (isThis(each) ? { ...each, ...changes } : each)) });
  }
}

/** Returns every model of every server. The chosen one is among them, even if its server is gone. */
export function remoteChoices(servers: readonly Connection[], chosen: RemoteModel | null): readonly RemoteModel[] {
  const all = servers.flatMap(({ kind, baseUrl, models }) =>
    kind === "models" ? models.map((model) => ({ baseUrl, model })) : [],
  );
  const isListed = chosen === null || all.some((remote) => writeRemote(remote) === writeRemote(chosen));
  return isListed ? all : [{ baseUrl: chosen.baseUrl, model: chosen.model }, ...all];
}

/** Returns a choice as the value of an <option>; "" is this page's engine. */
export function writeRemote(remote: RemoteModel | null): string {
  return remote === null ? "" : `${remote.baseUrl} ${remote.model}`;
}

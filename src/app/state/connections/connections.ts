import { normaliseAddress, shortAddress } from "../../remote/address.ts";
import type { RemoteObserver } from "../../remote/remote-answer.ts";
import type { PageFacts } from "../../remote/test-connection.ts";
import type { Answerer, RemoteModel } from "../../remote/answerer.ts";
import { ChorusError } from "../../../index.ts";
import { softwareOf, type ServerSoftware } from "../../remote/server-software.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import {
  keepConnections,
  keptConnections,
  type Connection,
  type ConnectionKind,
  type ConnectionsState,
  type SpillOver,
} from "./saved-connections.ts";

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
  constructor(options: ConnectionsOptions, state = keptConnections()) {
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

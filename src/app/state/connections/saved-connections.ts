// Connections as they are kept in this browser. An address is always kept, a key only on request.

import type { RemoteModel } from "../../remote/answerer.ts";
import type { ConnectionReport } from "../../remote/test-connection.ts";
import { listOf, oneOf, optional, orNull, recordOf, text, wholeNumber, type Read } from "../read-record.ts";
import { remember, rememberedJson } from "../remembered.ts";

const KINDS = ["models", "tools"] as const;
export type ConnectionKind = (typeof KINDS)[number];

/** A server of OpenAI's API, or of tools: an MCP server over streamable HTTP. */
export interface Connection {
  readonly kind: ConnectionKind;
  /** "https://host.example/v1"; no two connections have the same. */
  readonly baseUrl: string;
  /** Listed by the server, or typed. Of a server of tools, their names. */
  readonly models: readonly string[];
  /** The owner in its list of models: its software. */
  readonly ownedBy: string | null;
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

export interface ConnectionsState {
  readonly connections: readonly Connection[];
  readonly spillOver: SpillOver | null;
}

export const MAX_LIMIT_S = 3600;
const NAME = "connections";
export const NO_CONNECTIONS: ConnectionsState = { connections: [], spillOver: null };

export function keepConnections({ connections, spillOver }: ConnectionsState): void {
  const kept = connections.map((connection) => {
    const { key, test: _, ...rest } = connection;
    return { ...rest, ...(rest.isKeyKept && key !== null && { key }) };
  });
  remember(NAME, JSON.stringify({ connections: kept, spillOver }));
}

const readKept = recordOf<Omit<Connection, "key" | "isKeyKept" | "test"> & { readonly key?: string }>({
  kind: oneOf(...KINDS),
  baseUrl: text,
  models: listOf(text),
  ownedBy: orNull(text),
  key: optional(text),
});
const readConnection: Read<Connection> = (value, path) => {
  const { key = null, ...kept } = readKept(value, path);
  return { ...kept, key, isKeyKept: key !== null, test: null };
};
const readConnections = recordOf<ConnectionsState>({
  connections: listOf(readConnection),
  spillOver: orNull(recordOf<SpillOver>({ baseUrl: text, model: text, limitS: wholeNumber(0, MAX_LIMIT_S) })),
});

export function keptConnections(): ConnectionsState {
  return rememberedJson(NAME, readConnections, NO_CONNECTIONS);
}

import type { RemoteModel } from "../../remote/answerer.ts";
import type { Connection } from "./saved-connections.ts";

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

export function readRemote(text: string): RemoteModel | null {
  const at = text.indexOf(" ");
  return at < 0 ? null : { baseUrl: text.slice(0, at), model: text.slice(at + 1) };
}

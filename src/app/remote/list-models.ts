import { parseJson } from "../../index.ts";
import { attempt } from "../attempt.ts";
import { askServer, type ServerAccess } from "./ask-server.ts";
import { fieldsOf, textOf } from "./fields-of.ts";
import { readText } from "./read-text.ts";
import { RemoteError } from "./remote-error.ts";

/** Most bytes of a list of models. (OpenRouter's has half a megabyte.) */
const MAX_LIST_BYTES = 8 * 2 ** 20;
const MAX_MODELS = 2000;

export interface ServerModels {
  /** Their ids, as the server orders them. */
  readonly models: readonly string[];
  /** The owner that the first model names: the server's software; null if it names none. */
  readonly ownedBy: string | null;
}

/** Returns the models that a server lists. @throws RemoteError */
export async function listModels(access: ServerAccess, signal?: AbortSignal): Promise<ServerModels> {
  const { host } = new URL(access.baseUrl);
  const response = await askServer(access, `${access.baseUrl}/models`, signal && { signal });
  const text = await readText(response, MAX_LIST_BYTES);
  const { data: list } = fieldsOf(attempt(() => parseJson(text), null));
  if (!Array.isArray(list)) {
    const message = `${host} answers, but not with a list of models. Is ${access.baseUrl} the address of its API?`;
    throw new RemoteError("server_answer_invalid", message);
  }
  const entries = list.map(fieldsOf).filter(({ id }) => typeof id === "string");
  const models = entries.slice(0, MAX_MODELS).map(({ id }) => textOf(id));
  return { models, ownedBy: textOf(entries[0]?.["owned_by"]) || null };
}

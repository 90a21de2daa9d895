import { addressSpaceOf } from "./address.ts";
import { errorOfResponse, RemoteError } from "./remote-error.ts";

export interface ServerAccess {
  /** "https://host.example/v1" */
  readonly baseUrl: string;
  /** Sent as a bearer token to this server alone. */
  readonly key: string | null;
  /** [the platform's] */
  readonly fetch?: typeof globalThis.fetch;
}

interface ServerRequest extends Pick<RequestInit, "method" | "body" | "signal"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to this server only: redirects would take key and chat elsewhere. @throws RemoteError; the signal's reason */
export async function askServer(access: ServerAccess, url: string, init: ServerRequest = {}): Promise<Response> {
  const { key, fetch = globalThis.fetch } = access;
  const { host } = new URL(url);
  const options: RequestInit & { targetAddressSpace?: string } = {
    ...init,
    headers: {
      ...init.headers,
      ...(init.body !== undefined && { "content-type": "application/json" }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    cache: "no-store",
    credentials: "omit",
    redirect: "manual",
    referrerPolicy: "no-referrer",
  };
  const space = addressSpaceOf(url);
  // For Chrome: names the network before the connection, so that the browser can ask for permission.
  if (space !== "public") options.targetAddressSpace = space;
  let response: Response;
  try {
    response = await fetch(url, options);
  } catch (cause) {
    init.signal?.throwIfAborted();
    const message = `${host} can't be reached from this page. "Test" in Connections says why.`;
    throw new RemoteError("server_unreachable", message, { isTransient: true, cause });
  }
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    const target = response.headers.get("location");
    // Chromium also says so of a name that doesn't exist: it tries https first.
    const message =
      target === null
        ? `${host} redirects, or nothing answers there. Give the address that answers.`
        : `${host} redirects to ${target}. Give that address.`;
    throw new RemoteError("server_answer_invalid", message);
  }
  if (!response.ok) throw await errorOfResponse(response, host);
  return response;
}

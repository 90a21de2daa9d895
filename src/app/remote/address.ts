import { ChorusError } from "../../index.ts";
import { attempt } from "../attempt.ts";

/** An address's place in the network, in the words of Chrome's Local Network Access. */
type AddressSpace = "loopback" | "local" | "public";

const ENDPOINTS = /\/(?:chat\/completions|completions|responses|models|embeddings)$/;
const HAS_VERSION = /\/v\d[^/]*(?:\/|$)/;

/**
 * Returns the base URL of an OpenAI API ("https://host/v1") from any of its addresses: with an endpoint's path, with
 * the version alone, or the host alone. Without a scheme it is https, but http in one's own network. The address of a server of tools is
 * complete.
 * @throws ChorusError invalid_value
 */
export function normaliseAddress(text: string, kind: "models" | "tools" = "models"): string {
  const given = text.trim();
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(given);
  const plain = `http://${given}`;
  const scheme = URL.canParse(plain) && addressSpaceOf(plain) !== "public" ? "http" : "https";
  const full = hasScheme ? given : `${scheme}://${given}`;
  if (given === "" || /\s/.test(given) || !URL.canParse(full)) {
    throw wrongAddress(
      `"${text}" is not an address. Give one such as http://localhost:8000 or https://host.example/v1.`,
    );
  }
  const url = new URL(full);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw wrongAddress(`The address must begin with http:// or https://, not ${url.protocol}//.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw wrongAddress("The address must not have a name or password in it. A key goes into its own field.");
  }
  if (kind === "tools") {
    // It is kept, and exported with chats.
    if (url.search !== "") throw wrongAddress('The address must not have a "?". A key goes into its own field.');
    return url.origin + url.pathname;
  }
  const path = url.pathname.replace(/\/+$/, "");
  const base = path.replace(ENDPOINTS, "");
  const isComplete = base !== path || HAS_VERSION.test(base);
  return url.origin + base + (isComplete ? "" : "/v1");
}

export function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/v\d[^/]*$/, "");
}

/** Returns the shortest address that is read as this base URL, so that no two servers have the same. Other text is returned as it is. */
export function shortAddress(baseUrl: string): string {
  const plain = baseUrl.replace(/^https?:\/\//, "");
  const isRead = (text: string) => attempt(() => normaliseAddress(text), null) === baseUrl;
  return [rootOf(plain), plain, rootOf(baseUrl)].find(isRead) ?? baseUrl;
}

export function addressSpaceOf(url: string): AddressSpace {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1" || host.startsWith("127."))
    return "loopback";
  const isPrivate =
    /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.)/.test(host) ||
    /^(?:f[cd][\da-f]{2}|fe[89ab][\da-f]):/i.test(host) ||
    host.endsWith(".local") ||
    (!host.includes(".") && !host.includes(":"));
  return isPrivate ? "local" : "public";
}

function wrongAddress(message: string): ChorusError {
  return new ChorusError("invalid_value", message, "address");
}

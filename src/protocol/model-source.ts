// A model's location: as the caller writes it, and as it is posted to the engine's side.

import type { ModelSource } from "./config.ts";
import { ChorusError } from "./errors.ts";
import type { EngineChanges } from "./live-config.ts";
import { percentDecoded } from "./percent-decoded.ts";

/** Options for a hub id. Folders and files ignore them. Defaults in brackets. */
export interface HubOptions {
  /** Branch, tag, commit or "refs/pr/4". [that of the model's address, else "main"] */
  revision?: string | undefined;
  /** Access token for private and gated models. Sent to `hubUrl` only, and never stored. [none] */
  token?: string | undefined;
  /** The hub, or a mirror of it. ["https://huggingface.co"] */
  hubUrl?: string | undefined;
}

export interface HubLocation {
  readonly type: "hub";
  /** "owner/name" */
  readonly id: string;
  readonly revision: string;
  /** Without a slash at its end. */
  readonly hubUrl: string;
  readonly token: string | null;
  /** A quantisation ("Q4_K_M") or a file of the repository, if the weights are in GGUF. */
  readonly gguf?: string;
}

/** A folder's absolute URL, with a slash at the end of its path. */
export interface FolderLocation {
  readonly type: "folder";
  readonly url: string;
  /** The GGUF file in it that has the weights. */
  readonly gguf?: string;
}

export type RemoteLocation = HubLocation | FolderLocation;
export type ModelLocation = RemoteLocation | { readonly type: "files"; readonly files: readonly File[] };

export const DEFAULT_HUB_URL = "https://huggingface.co";
export const DEFAULT_REVISION = "main";

/** Exactly two segments that look like names. "models/gpt2/" and "./models/gpt2" are folders, "models/gpt2.gguf" is a file. */
const HUB_ID = /^[A-Za-z0-9_-][\w.-]*\/(?!.*\.gguf$)[A-Za-z0-9_-][\w.-]*$/i;
/** "owner/name:Q4_K_M", or "owner/name/FILE.gguf", which may lie in a folder. */
const HUB_GGUF = /^([^/:]+\/[^/:]+)(?::([\w.-]+)|\/([^:]+\.gguf))$/i;

const HUB_HOST = /^(?:(?:https?:)?\/\/)?(?:(?:www\.)?huggingface\.co|hf\.co)(?=[/?#]|$)/i;
/** First parts of the hub's addresses that are nobody's name. */
const NO_OWNER = /^(?:api|collections|datasets|docs|models|papers|spaces)$/;
/** What the hub's addresses have between a model and a revision. */
const BEFORE_REVISION = /^(?:blob|commit|raw|resolve|tree)$/;

/** Returns whether a string names a model of the hub, "owner/name" or its address there; every other one is a folder's URL. */
export function isHubId(model: string): boolean {
  return (readHubName(model)?.id ?? null) !== null;
}

interface HubName {
  /** Null: an address of the hub, but no model's. */
  readonly id: string | null;
  readonly revision?: string | undefined;
  readonly gguf?: string | undefined;
  /** The URL of the folder inside a model's repository that the address names. */
  readonly folder?: string | undefined;
}

/**
 * Reads "owner/name", or an address as people copy it: with or without "https://", of a model, a revision or a file. Returns
 * null for a folder's URL, such as that from which a hub serves a folder's files, ".../resolve/main/".
 */
function readHubName(model: string, hubUrl?: unknown): HubName | null {
  const address = model.trim();
  const isHubs = HUB_HOST.test(address);
  const hub = isHubs || typeof hubUrl !== "string" ? DEFAULT_HUB_URL : hubUrl.replace(/\/+$/, "");
  if (!isHubs && !address.startsWith(`${hub}/`)) return HUB_ID.test(address) ? { id: address } : readGgufName(address);
  const path = address.replace(isHubs ? HUB_HOST : hub, "").replace(/[?#].*$/s, "");
  const tagged = path.includes(":") ? readGgufName(path.slice(1)) : null; // as other programs take it: "hf.co/owner/name:Q4_K_M"
  if (tagged) return tagged;
  const [, owner = "", name = "", before = "", ...rest] = path.split("/");
  const id = `${owner}/${name}`;
  const isModels = HUB_ID.test(id) && !NO_OWNER.test(owner);
  const isBeforeRevision = BEFORE_REVISION.test(before);
  // A mirror's host may serve folders beside its models.
  if (!isHubs && (!isModels || path.endsWith("/") || !(isBeforeRevision || before === ""))) return null;
  if (!isModels) return { id: null };
  if (!isBeforeRevision) return { id };
  const revision = rest.splice(0, rest[0] === "refs" ? 3 : 1).join("%2F");
  const inside = rest.join("/");
  if (isGgufPath(inside))
    return { id, gguf: percentDecoded(inside) ?? inside, revision: percentDecoded(revision) ?? revision };
  // "tree" names a folder, and "resolve" either: a file's name has a dot.
  const fileName = before === "tree" ? /$/ : before === "resolve" ? /[^/]*\.[^/]*$/ : /[^/]*$/;
  if (before === "resolve" && !fileName.test(inside) && /^https?:/i.test(address)) return null;
  const folder = inside.replace(fileName, "").replace(/\/+$/, "");
  if (folder !== "") return { id: null, folder: `${hub}/${id}/resolve/${revision}/${folder}/` };
  return { id, ...(revision !== "" && { revision: percentDecoded(revision) ?? revision }) };
}

function readGgufName(model: string): HubName | null {
  const [, id = "", quantisation, file] = HUB_GGUF.exec(model) ?? [];
  // In one letter case, a quantisation is stored once.
  return HUB_ID.test(id) ? { id, gguf: quantisation?.toUpperCase() ?? file } : null;
}

function isGgufPath(path: string): boolean {
  return /\.gguf$/i.test(path);
}

/**
 * Decides what a `model` is: "owner/name", or its address on the hub, is a model of the hub; every other string is the URL of a
 * folder, relative to `baseUrl`.
 * @throws ChorusError missing_required_parameter, invalid_type, invalid_value, naming the field.
 */
export function locateModel(model: ModelSource | undefined, hub: HubOptions = {}, baseUrl?: string): ModelLocation {
  if (model === undefined || model === null) {
    const message = 'model is missing: give a hub id ("owner/name"), the URL of a folder, or files.';
    throw new ChorusError("missing_required_parameter", message, "model");
  }
  if (model instanceof File) return { type: "files", files: [model] };
  if (Array.isArray(model) && model.every((file) => file instanceof File)) return { type: "files", files: model };
  if (typeof model !== "string") {
    const message = 'model must be a hub id ("owner/name"), the URL of a folder, or a list of its files.';
    throw new ChorusError("invalid_type", message, "model");
  }
  const named = readHubName(model, hub.hubUrl);
  if (named) return hubLocation(named, model, hub);
  const folder = absoluteUrl(model, baseUrl);
  if (model === "" || !folder) {
    const inNode = baseUrl === undefined ? " (in Node: and no folder of this machine)" : "";
    const message = `model must be a hub id ("owner/name"), the URL of a folder, or its files; ${JSON.stringify(model)} is none of these${inNode}.`;
    throw new ChorusError("invalid_value", message, "model");
  }
  if (isGgufPath(folder.pathname)) {
    const [name = ""] = /[^/]*$/.exec(folder.pathname) ?? [];
    folder.pathname = folder.pathname.slice(0, -name.length);
    return { type: "folder", url: folder.href, gguf: asModel(percentDecoded(name) ?? name) };
  }
  if (!folder.pathname.endsWith("/")) folder.pathname += "/";
  return { type: "folder", url: folder.href };
}

/** Returns what createEngine takes as `model` for a location. */
export function nameOfModel(location: Omit<HubLocation, "token"> | FolderLocation): string {
  const { gguf = "" } = location;
  if (location.type === "hub") return `${location.id}${gguf && `${isGgufPath(gguf) ? "/" : ":"}${gguf}`}`;
  const url = new URL(location.url);
  url.pathname += encodeURIComponent(gguf);
  return url.href;
}

/**
 * Decides what a `model` that can be downloaded is: a model of the hub, or a folder whose URL is relative to `baseUrl`.
 * @throws ChorusError invalid_type for files, invalid_value, naming the field
 */
export function locateRemoteModel(model: string, hub: HubOptions = {}, baseUrl?: string): RemoteLocation {
  const location = locateModel(model, hub, baseUrl);
  if (location.type !== "files") return location;
  throw new ChorusError("invalid_type", 'model must be a hub id ("owner/name") or the URL of a folder.', "model");
}

/** Makes a draft model's URL absolute: it is relative to the page, which the engine's side does not know. */
export function withAbsoluteDraft<Config extends Pick<EngineChanges, "speculation">>(
  config: Config,
  baseUrl?: string,
): Config {
  const { speculation } = config;
  if (speculation?.method !== "draft_model") return config;
  const { model } = speculation;
  if (typeof model !== "string" || model === "" || readHubName(model)) return config;
  const url = absoluteUrl(model, baseUrl)?.href;
  return url === undefined ? config : { ...config, speculation: { ...speculation, model: url } };
}

/** Returns a GGUF file's name. @throws ChorusError invalid_value for one that goes with a model and is none */
function asModel(file: string): string {
  if (!/(?:^|\/)mmproj-[^/]*$/i.test(file)) return file;
  const message = `${file} is no model: it lets another one see pictures. Name the model's own file.`;
  throw new ChorusError("invalid_value", message, "model");
}

function hubLocation({ id, revision: named, folder, gguf }: HubName, model: string, hub: HubOptions): HubLocation {
  const { revision = named ?? DEFAULT_REVISION, token = null, hubUrl = DEFAULT_HUB_URL } = hub;
  if (id === null) {
    const whole = 'Give "owner/name", or the address of the model\'s page';
    const message =
      folder === undefined
        ? `${JSON.stringify(model)} is an address of the hub, but no model's. ${whole}.`
        : `${JSON.stringify(model)} is inside a model's repository. ${whole}, or "${folder}" for that folder. A branch with "/" in its name goes into revision.`;
    throw new ChorusError("invalid_value", message, "model");
  }
  if (named !== undefined && named !== revision) {
    const message = `model is an address of revision "${named}", and revision is ${JSON.stringify(revision)}. Give one of them.`;
    throw new ChorusError("invalid_value", message, "revision");
  }
  if (typeof revision !== "string" || revision === "" || /[\s?#]|\.\./.test(revision)) {
    throw new ChorusError("invalid_value", 'revision must be a branch, a tag, a commit or "refs/pr/N".', "revision");
  }
  // A header's value: a line break in it would be another header.
  if (token !== null && (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))) {
    throw new ChorusError("invalid_value", "token must be a non-empty string without white space.", "token");
  }
  const url = typeof hubUrl === "string" ? absoluteUrl(hubUrl, undefined) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ChorusError("invalid_value", 'hubUrl must be the hub\'s address, such as "https://...".', "hubUrl");
  }
  return {
    type: "hub",
    id,
    revision,
    hubUrl: (url.origin + url.pathname).replace(/\/+$/, ""),
    token,
    ...(gguf !== undefined && { gguf: asModel(gguf) }),
  };
}

/** Returns null for what has no folders, too: "C:\\models", "javascript:x". */
function absoluteUrl(url: string, baseUrl: string | undefined): URL | null {
  const found = URL.canParse(url, baseUrl) ? new URL(url, baseUrl) : null;
  return found && /^\w[\w.+-]+:\//.test(found.href) ? found : null;
}

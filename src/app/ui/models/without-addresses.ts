import { attempt } from "../../attempt.ts";

/**
 * Returns a message with the file and its host for each raw address: "config.json at huggingface.co". A folder's keeps its path,
 * and a quoted one, which a person gave or can give, stays as it is. Addresses of the hub's API, which lists files, end in a
 * revision.
 */
export function withoutAddresses(message: string): string {
  return message.replaceAll(/"[^"]*"|https?:\/\/[^\s,;()]+[^\s,;().:]/g, (address) => {
    if (address.startsWith('"')) return address;
    const { host, pathname } = new URL(address);
    const isList = pathname.includes("/api/models/");
    const name = pathname.split("/").at(-1) ?? "";
    const file = isList ? "the list of files" : attempt(() => decodeURIComponent(name), name);
    if (file === "") return pathname === "/" ? host : host + pathname;
    return `${file} at ${host}`;
  });
}

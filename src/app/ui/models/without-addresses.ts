import { percentDecoded } from "../../percent-decoded.ts";

/**
 * Returns a message with the file and its host for each raw address: "config.json at huggingface.co". Addresses of the hub's
 * API, which lists files, end in a revision.
 */
export function withoutAddresses(message: string): string {
  return message.replaceAll(/https?:\/\/[^\s,;()]+[^\s,;().:]/g, (address) => {
    const { host, pathname } = new URL(address);
    const isList = pathname.includes("/api/models/");
    const name = pathname.split("/").at(-1) ?? "";
    const file = isList ? "the list of files" : (percentDecoded(name) ?? name);
    return file === "" ? host : `${file} at ${host}`;
  });
}

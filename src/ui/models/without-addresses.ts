/** Returns a message with the file and its host for each raw address: "config.json at huggingface.co". */
export function withoutAddresses(message: string): string {
  return message.replaceAll(/https?:\/\/[^\s,;()]+[^\s,;().:]/g, (address) => {
    const { host, pathname } = new URL(address);
    const file = decodeURIComponent(pathname.split("/").at(-1) ?? "");
    return file === "" ? host : `${file} at ${host}`;
  });
}

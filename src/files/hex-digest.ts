/** Returns a hash of bytes that are all in memory, in hexadecimal. */
export async function hexDigest(algorithm: "SHA-1" | "SHA-256", bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest(algorithm, bytes)));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

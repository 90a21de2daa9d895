import { sha256 } from "@noble/hashes/sha2.js";
import { expect, test } from "vitest";

import { hexDigest, toHex } from "./hex-digest.ts";

test("pieces hash as FIPS 180-4 says, across the edges of blocks", () => {
  const hash = sha256.create();
  for (const piece of ["abcdbcdecdefdefgefghfghighijhi", "jkijkljklmklmnlmnomnopnopq"]) {
    hash.update(new TextEncoder().encode(piece));
  }
  expect(toHex(hash.digest())).toBe("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
});

test("a million times a", () => {
  const hash = sha256.create();
  for (let i = 0; i < 1000; i++) hash.update(new Uint8Array(1000).fill(97));
  expect(toHex(hash.digest())).toBe("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
});

test("bytes in memory have the browser's own digest", async () => {
  const bytes = new TextEncoder().encode("abc");
  expect(await hexDigest("SHA-256", bytes)).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(await hexDigest("SHA-1", bytes)).toBe("a9993e364706816aba3e25717850c26c9cd0d89d");
});

import { root, run } from "./run-command.mjs";

/** Builds the app and serves it on this machine only, on `port` or the next free one. Ends the process where the build fails. */
export async function buildAndServe(/** @type {number} */ port) {
  console.log("Building…");
  if (!(await run("npm run --silent build", { output: "if-failed" }))) process.exit(1);
  const { preview } = await import("vite");
  const server = await preview({ root, logLevel: "warn", preview: { host: "127.0.0.1", port, open: false } });
  const url = server.resolvedUrls?.local[0];
  if (!url) throw new Error("The server gave no address.");
  return { url, close: () => server.close() };
}

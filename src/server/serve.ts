// npm run serve: an engine in Node, behind the same handler as in pages.

import { openDiskFolder } from "../host/platforms/disk-folder.ts";
import { createHandler } from "../http/handler.ts";
import {
  ChorusError,
  isHubId,
  locateRemoteModel,
  type ChorusEngine,
  type CreateEngineOptions,
  type LoadProgress,
} from "../index.ts";
import { VERSION } from "../version.ts";
import { withApiKey, withCors, withHostNames, withJsonBodies, withLog, type Handler } from "./access.ts";
import { isLoopback, parseCommandLine, USAGE, UsageError, type ServeOptions } from "./command-line.ts";
import { downloadBar } from "./download-bar.ts";
import { openHubModel } from "./hub-cache.ts";
import { NodeServer } from "./node-server.ts";
import { refusal } from "./refusal.ts";

/** Time that requests in flight may go on once the server is to end. */
const GRACE_MS = 30_000;
const stillLoading = () => refusal(503, "model_loading", "The model is still loading.", { "retry-after": "1" });

export interface ServeHome {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  readonly createEngine: (options: CreateEngineOptions) => Promise<ChorusEngine>;
  /** Returns this machine's WebGPU, or the reason why there is none. */
  readonly openWebGpu: () => Promise<{ readonly gpu: GPU } | { readonly reason: string }>;
  /** Resolves when the server is to end. */
  readonly ended: Promise<string>;
}

/** Serves until `ended`. Returns the process's exit code: 2 for an invalid command line. */
export async function serve(words: readonly string[], home: ServeHome): Promise<number> {
  try {
    const options = parseCommandLine(words, home.env);
    if (options === "help") home.print(USAGE);
    else if (options === "version") home.print(`${VERSION}\n`);
    else await run(options, home);
    return 0;
  } catch (error) {
    home.printError(`${messageOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Runs the server. Listens before it loads: a taken port is reported at once, and health checks get an answer. */
async function run(options: ServeOptions, home: ServeHome): Promise<void> {
  const { print, ended } = home;
  const folder = await openDiskFolder(options.model).catch((error: unknown) => {
    throw error instanceof ChorusError ? new UsageError(error.message, { cause: error }) : error;
  });
  if (!folder && !isHubId(options.model))
    throw new UsageError(`There is no folder ${options.model}, and it is no model of the hub ("owner/name") either.`);
  let answer: Handler = async () => stillLoading();
  const server = await NodeServer.listen(
    withAccess((request) => answer(request), options, print),
    options,
  );
  print(`Listening at ${server.url}; it answers 503 until the model is loaded.\n`);
  const loading = new AbortController();
  try {
    const engine = await Promise.race([load(folder, options, home, loading.signal), ended]);
    if (typeof engine === "string") {
      loading.abort();
      print(`${engine}: loading is cancelled.\n`);
      return;
    }
    answer = createHandler(engine, options.names);
    print(`Serving at ${server.url}/v1\nCtrl+C ends it.\n`);
    print(`${await ended}: no new requests; those in flight have ${GRACE_MS / 1000} s.\n`);
    await server.drain(GRACE_MS);
    await engine.dispose();
  } finally {
    await server.close();
  }
}

/** Loads the engine, and prints what runs where, and why. */
async function load(
  folder: File[] | null,
  options: ServeOptions,
  home: ServeHome,
  signal: AbortSignal,
): Promise<ChorusEngine> {
  const { config } = options;
  const files = folder ?? (await openHubFolder(options, home, signal));
  const webGpu = config.backend === "cpu" ? { reason: "--backend cpu" } : await home.openWebGpu();
  const engine = await home.createEngine({
    ...config,
    model: files,
    worker: false,
    onProgress: progressPrinter(home.print),
    ...("gpu" in webGpu && { gpu: webGpu.gpu }),
    signal,
  });
  const { name, adapter, dtype, mixture, contextLength } = engine.model;
  const reason = "reason" in webGpu ? webGpu.reason : "the only GPU here is emulated by the CPU";
  const why = "gpu" in webGpu && engine.model.backend === "webgpu" ? "" : ` (no WebGPU: ${reason})`;
  home.print(`${name} in ${mixture ?? dtype} on ${adapter}${why}, with a context of ${contextLength} tokens\n`);
  return engine;
}

async function openHubFolder(
  { model, revision: given }: ServeOptions,
  { env, print }: ServeHome,
  signal: AbortSignal,
): Promise<File[]> {
  const location = locateRemoteModel(model, { ...(given !== null && { revision: given }) });
  if (location.type !== "hub") return [];
  const { id, revision, gguf } = location;
  const bar = downloadBar(id, print);
  const onProgress = (received: number, total: number) => bar.show(received, total);
  const onWaiting = () => print("\nWaiting for the hub.\n");
  const folder = await openHubModel(id, { env, revision, gguf, onProgress, onWaiting, signal }).finally(() =>
    bar.end(),
  );
  return (await openDiskFolder(folder, id.split("/").at(-1))) ?? [];
}

function withAccess(
  handler: Handler,
  { apiKey, cors, host, logRequests }: ServeOptions,
  print: ServeHome["print"],
): Handler {
  let guarded = withJsonBodies(handler);
  if (apiKey !== null) guarded = withApiKey(guarded, apiKey);
  else if (isLoopback(host)) guarded = withHostNames(guarded, isLoopback);
  // Outermost: a preflight has no key.
  if (cors !== null) guarded = withCors(guarded, cors);
  return logRequests ? withLog(guarded, print) : guarded;
}

/** Returns a function that prints a line for each tenth of the weights in memory. */
function progressPrinter(print: ServeHome["print"]): (progress: LoadProgress) => void {
  let lastPercent = -1;
  return ({ stage, done, total }) => {
    if (stage !== "memory" || total < 1e6) return;
    const percent = Math.floor((10 * done) / total) * 10;
    if (percent === lastPercent) return;
    lastPercent = percent;
    print(`Reading the weights: ${percent}% of ${(total / 1e6).toFixed(0)} MB\n`);
  };
}

/** Returns an error's message without its stack, which would not help the person who typed the command. */
function messageOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof ChorusError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return "That port is taken. Give another with --port.";
  if (code === "EACCES") return "That port may not be used. Give one above 1023 with --port.";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "This machine has no such address. Give another --host.";
  return message;
}

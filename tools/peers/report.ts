// docs/benchmarks/peers.md, made of the runs in peers.json.

import { isChorus, tokensLine, type Comparison, type EngineResult, type LoadResult } from "./compare.ts";

export interface PeerRun extends Comparison {
  readonly date: string;
  readonly commit: string;
  readonly cpu: string;
  /** Load average of the machine, before and at the end of the run. */
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly model: { readonly name: string; readonly numParameters: number };
  readonly isQuick: boolean;
}

export const LOADS_HEAD = [
  "engine",
  "computes on, in",
  "asked",
  "tokens each",
  "tok/s",
  "Chorus is",
  "with prompts, tok/s",
  "TTFT mean / last",
  "Chorus is",
  "runs",
] as const;

/** One for each way an engine was asked. */
export function loadRows({ engines }: Comparison): string[][] {
  const chorus = engines.find(isChorus);
  return engines.flatMap((engine) =>
    engine.failure === null || engine.loads.length > 0
      ? engine.loads.map((load) => loadRow(engine, load, chorus && atOnce(chorus, load.sequences)))
      : [[engine.name, engine.how, "-", "-", "-", "-", "-", "-", "-", "-"]],
  );
}

function loadRow(
  { name, how }: EngineResult,
  { way, sequences, newTokens, timing, runs }: LoadResult,
  chorus: LoadResult | undefined,
): string[] {
  const times = (ratio: number) => (Number.isFinite(ratio) ? `${significant(ratio)}×` : "-");
  return [
    name,
    how,
    sequences === 1 ? "1" : `${sequences} ${way}`,
    String(newTokens),
    significant(timing.decodeTokensPerSecond),
    times((chorus?.timing.decodeTokensPerSecond ?? NaN) / timing.decodeTokensPerSecond),
    significant(timing.tokensPerSecond),
    `${milliseconds(timing.meanTtftMs)} / ${milliseconds(timing.lastTtftMs)}`,
    times(timing.meanTtftMs / (chorus?.timing.meanTtftMs ?? NaN)),
    String(runs.length),
  ];
}

function atOnce({ loads }: EngineResult, sequences: number): LoadResult | undefined {
  return loads.find((load) => load.way === "at once" && load.sequences === sequences);
}

export function renderReport(runs: readonly PeerRun[]): string {
  return [INTRODUCTION, ...runs.map(renderRun)].join("\n");
}

const INTRODUCTION = `# Chorus beside its peers

Written by \`npm run bench -- peers\` (\`--size\`, \`--adapter\`, \`--quick\`; \`--help\` tells). The figures as data, each round by
itself: [peers.json](peers.json).

**The same weights.** One checkpoint is converted, without rounding, to what each engine loads: safetensors for Chorus, ONNX
for transformers.js, GGUF for wllama. Sizes \`tiny\`, \`small\` and \`gpt2\` are GPT-2 shapes with random weights (all of them
numbers that f16 holds exactly, so that f32 and f16 are the same weights); \`embedded\` is the model the app opens on.

**The same work.** Every engine has a page of its own in one Chromium and is asked in turn, round by round: eight different
prompts of the same length, greedy, no end of text, no prefix kept from before. Before anything is timed, all eight
answers are compared, token by token, with those of Chorus in f32.

**How to read it.** \`tok/s\` is all sequences together, from the first token of any to the last of all; "with prompts" is all
tokens over all the time from the call on. TTFT is from the call to
a sequence's first token: the mean of all, and the last one's. "Chorus is": how many times as fast Chorus with its default
settings is in this run, asked for as many at once; below 1 the other is faster. Who would need too long makes shorter
answers. Medians of the runs. On a software adapter everything below shares the CPU with what else the machine does: see
its load average.

- transformers.js batches what is given to it in one call ("padded batch"; all prompts here have one length, so that it has
  nothing to pad). Calls made at the same time ("at once") take turns. Its graph has onnxruntime's fused GELU but plain
  attention.
- wllama batches calls made at the same time, in up to eight slots here. On WebGPU it wants \`shader-f16\`.
- The CPU engines run in WebAssembly with the number of threads each chooses. **On a machine without a GPU they are the ones
  to use**: a software WebGPU adapter is a GPU played by the same CPU. Rows on such an adapter show how the engines use
  WebGPU, beside each other, and what that costs against the CPU itself.
`;

function renderRun(run: PeerRun): string {
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  const millions = (run.model.numParameters / 1e6).toFixed(1);
  return `
## ${run.model.name} on ${run.adapter}

${millions} million parameters, prompts of ${run.promptTokens} tokens${run.isQuick ? ", quick" : ""}. ${run.date}, Chorus at
${run.commit}, ${versions.join(", ")}, Chromium ${run.browser}, ${run.cpu}.
The machine's load average was ${run.loadBefore} before and ${run.loadAfter} at the end.

${markdownTable(LOADS_HEAD, loadRows(run))}

${togetherLine(run)}${markdownTable(["engine", "computes on, in", "threads", "load", "tokens beside Chorus in f32"], run.engines.map(engineRow))}
`;
}

/** What batching brings Chorus; "" where it was not measured. */
function togetherLine({ engines }: Comparison): string {
  const loads = engines.find(isChorus)?.loads ?? [];
  const alone = loads.find(({ way }) => way === "one after the other");
  const together = loads.find(({ way, sequences }) => way === "at once" && sequences === alone?.sequences);
  if (!alone || !together) return "";
  const ratio = together.timing.tokensPerSecond / alone.timing.tokensPerSecond;
  return `Chorus answers ${alone.sequences} at once ${significant(ratio)} times as fast as one after the other, prompts included.\n\n`;
}

function engineRow({ name, how, threads, loadMs, tokens, failure }: EngineResult): string[] {
  const compared = tokens ? tokensLine(tokens) : "they are the reference";
  return [
    name,
    how,
    threads === null ? "-" : String(threads),
    loadMs === null ? "-" : `${(loadMs / 1000).toFixed(1)} s`,
    failure === null ? compared : `left out: ${failure}`,
  ];
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function significant(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function milliseconds(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(0)} ms`;
}

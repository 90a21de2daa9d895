// Renders docs/benchmarks/peers.md from the runs in peers.json.

import type { NamedSectionResult, ResultTable } from "../report/bench-result.ts";
import { formatFigure } from "../report/format-figure.ts";
import { sectionLines } from "../report/report-markdown.ts";
import { CPU_SEQUENCES, CPU_THREADS, cpuHow, LONG_PROMPTS, type Load } from "./contenders.ts";
import { tokensLine, type Comparison, type EngineResult, type LoadResult } from "./compare.ts";

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

/** Returns one row per load of an engine. */
export function loadRows({ engines }: Comparison): string[][] {
  return engines.flatMap((engine) => {
    const chorus = engineOf(engines, "Chorus", engine.against);
    return engine.failure === null || engine.loads.length > 0
      ? engine.loads.map((load) => loadRow(engine, load, chorus && atOnce(chorus, load)))
      : [[engine.name, engine.how, "-", "-", "-", "-", "-", "-", "-", "-"]];
  });
}

function engineOf(engines: readonly EngineResult[], name: string, how: string): EngineResult | undefined {
  return engines.find((engine) => engine.name === name && engine.how === how);
}

function loadRow(
  { name, how }: EngineResult,
  { way, sequences, promptTokens, newTokens, timing, runs }: LoadResult,
  chorus: LoadResult | undefined,
): string[] {
  const times = (ratio: number) => (Number.isFinite(ratio) ? `${formatFigure(ratio)}×` : "-");
  return [
    name,
    how,
    promptTokens ? `1 of ${promptTokens} tokens` : sequences === 1 ? "1" : `${sequences} ${way}`,
    String(newTokens),
    formatFigure(timing.decodeTokensPerSecond),
    times((chorus?.timing.decodeTokensPerSecond ?? NaN) / timing.decodeTokensPerSecond),
    formatFigure(timing.tokensPerSecond),
    `${milliseconds(timing.meanTtftMs)} / ${milliseconds(timing.lastTtftMs)}`,
    times(timing.meanTtftMs / (chorus?.timing.meanTtftMs ?? NaN)),
    String(runs.length),
  ];
}

function atOnce({ loads }: EngineResult, { sequences, promptTokens }: Load): LoadResult | undefined {
  return loads.find(
    (load) => load.way === "at once" && load.sequences === sequences && load.promptTokens === promptTokens,
  );
}

export function renderReport(runs: readonly PeerRun[]): string {
  return `${[INTRODUCTION, ...runs.flatMap((run) => [...sectionLines(sectionOf(run)), ""])].join("\n").trim()}\n`;
}

const INTRODUCTION = `# Chorus beside its peers

Written by \`npm run bench -- peers\` (\`--size\`, \`--backend\`, \`--adapter\`, \`--quick\`; see \`--help\`). [peers.json](peers.json) has the
figures of each round.

**The same weights.** One checkpoint is converted, without rounding, to each engine's format: safetensors for Chorus, ONNX
for transformers.js, GGUF for wllama. Sizes \`tiny\`, \`small\` and \`gpt2\` are GPT-2 shapes, \`tiny-llama\` and \`smollm2-135m\`
Llama shapes, \`qwen3-0.6b\` is Qwen3's, all with random weights. f16 represents all of them exactly, so f32 and f16 are the
same weights. \`embedded\` is the model that the app opens with.

**The same work.** Each engine has a separate page in one Chromium. They take turns, round by round: eight different prompts
of the same length, greedy, no end of text, no cached prefix. Before anything is timed, all eight answers are compared, token
by token, with those of Chorus in f32.

**How to read it.** \`tok/s\` counts all sequences together, from the first token of any to the last of all; "with prompts" is
all tokens over the whole time since the call. TTFT is the time from the call to a sequence's first token: the mean, and the
last one's. "Chorus is" says how many times as fast Chorus with its default settings is in this run, with as many sequences
at once; below 1 the other engine is faster. An engine that would take too long makes shorter answers. Figures are medians of
the runs. On a software adapter everything shares the CPU with the machine's other work: see its load average.

- transformers.js batches the prompts of one call ("padded batch"; here all have the same length, so nothing is padded).
  Calls made at the same time ("at once") take turns. A GPT-2's graph has onnxruntime's fused GELU but plain attention; a
  Llama's has the fused norms and attention of published exports.
- wllama batches calls made at the same time, each in a slot of its own. On WebGPU it needs \`shader-f16\`. With many
  sequences its tokens arrive late, on a busy machine all at the end; then only "with prompts" says how fast it is.
- Paged attention is in onnxruntime-web's WebGPU kernels since 1.30, but nothing here uses it: transformers.js 4.3 does not
  know its operator, and published exports have \`GroupQueryAttention\` instead.
- WebLLM is left out. It runs models that MLC's compiler has made into WebAssembly, and for these weights there are none.
- A model of more than 2 GB in f32 is measured on the CPU, on two threads and with shorter answers. wllama, whose files end
  at 2 GB, has its weights in f16, as Chorus has by default, and is slow with them; transformers.js has them in f32.
- Where tokens differ, one side rounds in between: Chorus's default settings keep keys and values in f16, and wllama's flash
  attention rounds inside. Random weights amplify that from layer to layer, until it decides between two tokens that are
  nearly as likely.
- The CPU engines run in WebAssembly with as many threads as each chooses. **On a machine without a GPU use one of them**: a
  software WebGPU adapter emulates a GPU on the same CPU. Rows on such an adapter compare how the engines use WebGPU, and
  show what that costs against the CPU itself.
`;

function sectionOf(run: PeerRun): NamedSectionResult {
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  const millions = (run.model.numParameters / 1e6).toFixed(1);
  const engines = {
    title: "Engines",
    columns: ["engine", "computes on, in", "threads", "load", "tokens against Chorus in f32"],
    rows: run.engines.map(engineRow),
  };
  return {
    id: run.model.name,
    title: `${run.model.name} on ${run.adapter}`,
    about: `${millions} million parameters, prompts of ${run.promptTokens} tokens${run.isQuick ? ", quick" : ""}. ${run.date}, Chorus at
${run.commit}, ${versions.join(", ")}, Chromium ${run.browser}, ${run.cpu}.
The machine's load average was ${run.loadBefore} before and ${run.loadAfter} at the end.`,
    seconds: NaN,
    headlines: [],
    charts: [],
    tables: [{ title: "Loads", columns: LOADS_HEAD, rows: loadRows(run) }, ...cpuTables(run), engines],
    notes: togetherNotes(run),
    data: null,
  };
}

/** Returns Chorus beside the better of the others, load by load, for each number of threads; nothing of a run on a GPU. */
function cpuTables({ engines }: Comparison): ResultTable[] {
  const measured = CPU_THREADS.filter((threads) => engineOf(engines, "Chorus", cpuHow("default settings", threads)));
  return measured.map((threads) => {
    const own = ["default settings", "portable arithmetic"]
      .map((what) => engineOf(engines, "Chorus", cpuHow(what, threads)))
      .filter((engine) => engine !== undefined);
    const others = engines.filter(
      ({ name, how }) => name !== "Chorus" && OTHERS_TYPES.some((type) => how === cpuHow(type, threads)),
    );
    const all = [...own, ...others];
    const row = (load: Pick<Load, "sequences" | "promptTokens">, rateOf: (result?: LoadResult) => number) => {
      const rates = all.map((engine) => rateOf(sameLoad(engine, load)));
      const best = Math.max(...rates.slice(own.length).filter((rate) => rate > 0));
      return { rates, ratios: rates.slice(0, own.length).map((rate) => `${formatFigure(rate / best)}×`) };
    };
    const decoding = CPU_SEQUENCES.map((sequences) => {
      const { rates, ratios } = row({ sequences }, (result) => result?.timing.tokensPerSecond ?? NaN);
      return [`${sequences} at once, tok/s`, ...rates, ...ratios];
    });
    const lengths = LONG_PROMPTS.filter((promptTokens) => own[0] && sameLoad(own[0], { sequences: 1, promptTokens }));
    const prompts = lengths.map((promptTokens) => {
      const { rates, ratios } = row({ sequences: 1, promptTokens }, (result) => 1 / (result?.timing.meanTtftMs ?? NaN));
      return [`first token after ${promptTokens}`, ...rates.map((rate) => milliseconds(1 / rate)), ...ratios];
    });
    const columns = [
      threads === 1 ? "1 thread" : `${threads} threads`,
      ...["Chorus", "portable arithmetic"].slice(0, own.length),
      ...others.map(({ name }) => name),
      ...["Chorus beside the better one", "portable beside it"].slice(0, own.length),
    ];
    const title = "Over whole requests, prompts included, and the time to the first token of long prompts";
    return { title, columns, rows: [...decoding, ...prompts] };
  });
}

/** The other engines' formats of weights: wllama reads a large model in f16 only. */
const OTHERS_TYPES = ["f32", "f16"];

function sameLoad(
  { loads }: EngineResult,
  { sequences, promptTokens }: Pick<Load, "sequences" | "promptTokens">,
): LoadResult | undefined {
  return loads.find((load) => load.sequences === sequences && load.promptTokens === promptTokens);
}

/** Returns a sentence about the gain from batching; none if it was not measured. */
function togetherNotes({ engines }: Comparison): string[] {
  const loads = engines.flatMap(({ name, loads: own }) => (name === "Chorus" ? own : []));
  const alone = loads.find(({ way }) => way === "one after the other");
  const among = engines.find((engine) => alone && engine.loads.includes(alone))?.loads ?? [];
  const together = among.find(({ way, sequences }) => way === "at once" && sequences === alone?.sequences);
  if (!alone || !together) return [];
  const ratio = together.timing.tokensPerSecond / alone.timing.tokensPerSecond;
  return [
    `Chorus answers ${alone.sequences} at once ${formatFigure(ratio)} times as fast as one after the other, prompts included.`,
  ];
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

function milliseconds(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(0)} ms`;
}

// Renders the runs in docs/benchmarks/peers.json for peers.md.

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

/** Returns what peers.md has of each run. */
export function renderRuns(runs: readonly PeerRun[]): string {
  return runs.flatMap((run) => [...sectionLines(sectionOf(run)), ""]).join("\n");
}

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

import { useEffect, useState, useId, useCallback, useMemo } from "react";
import { useStore } from "zustand";
import {
  BenchControl,
  MEASURE_SECONDS,
  readBenchOptions,
  type BenchResult,
  formatFigure,
  reportCsv,
  reportMarkdown,
  type BenchState,
  formatDuration,
  type NamedSectionResult,
  hasLine,
  type ResultChart,
  chartSvg,
} from "../../../../lab/index.ts";
import type { CreateEngine } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";
import { More } from "../components/More.tsx";
import { PageHead } from "../bar/PageHead.tsx";
import { nameBrowser } from "../unsupported/describe-browser.ts";
import { OptionsForm } from "./OptionsForm.tsx";
import { saveFile } from "../save-file.ts";
import { listen, onResize } from "../listen.ts";
import { DataTable } from "../components/DataTable.tsx";

const QUICK = new URLSearchParams("quick");

interface BenchPageProps {
  readonly createEngine: CreateEngine;
  readonly embeddedModel: string;
  /** From the address: the options when the page opens. */
  readonly params: URLSearchParams;
}

/** Measures Chorus on this machine, in this page. */
export function BenchPage({ createEngine, embeddedModel, params }: BenchPageProps) {
  const [control] = useState(
    () => new BenchControl({ createEngine, embeddedModel, browser: nameBrowser(navigator.userAgent) }),
  );
  const [options, setOptions] = useState(() => readBenchOptions(params.size === 0 ? QUICK : params));
  const result = useStore(control.store, (state) => state.result);
  const isRunning = useStore(control.store, (state) => state.status === "running");
  useEffect(() => {
    return () => control.stop();
  }, [control]);

  return (
    <div className="h-dvh overflow-auto">
      <PageHead title="Benchmark" />
      <main className="grid grid-cols-[272px_minmax(0,1fr)] items-start gap-3 px-(--page) pb-(--page) max-sm:grid-cols-1">
        <aside className="box p-5 max-sm:p-4" aria-label="What to run">
          <Button look="ink" className="mb-2 w-full" disabled={isRunning} onClick={() => void control.measure(options)}>
            Measure ({MEASURE_SECONDS} s)
          </Button>
          <RunStatus control={control} />
          <More topic="bench" isOpenAtFirst={params.size > 0}>
            <OptionsForm
              options={options}
              isDisabled={isRunning}
              onChange={setOptions}
              onSubmit={() => void control.run(options)}
            />
          </More>
          {result && <EnvironmentFacts result={result} />}
        </aside>
        <div className="stack">
          {result ? (
            <>
              <ResultActions result={result} />
              {result.sections.map((section) => (
                <SectionView key={section.id} section={section} />
              ))}
            </>
          ) : (
            <section className="box p-5 max-sm:p-4" aria-label="About">
              <h2 className="title">How fast is it here?</h2>
              <p className="mt-2 max-w-(--measure) t-14 text-ink-2">
                &ldquo;Measure&rdquo; compares sixteen answers at once with one alone, and gives one number. Everything
                runs on this page. &ldquo;More&rdquo; measures the engine in all its parts.
              </p>
              <p className="mt-2 max-w-(--measure) t-14 text-ink-2">
                Cases take turns, so that a disturbance affects all of them alike, and each figure is a median. Compare
                figures of one run only, and keep this tab in view: browsers slow background tabs.
              </p>
            </section>
          )}
        </div>
      </main>
    </div>
  );
}

function EnvironmentFacts({ result: { environment, startedAt, warnings } }: { result: BenchResult }) {
  const facts = [
    ["Chorus", environment.version],
    ["Adapter", environment.adapter],
    ["Browser", environment.browser],
    ["Model", `${environment.model}, ${formatFigure(environment.parameters / 1e6)} M`],
    ["Context", `${formatFigure(environment.contextLength)} tokens`],
    ["Weights", environment.dtype],
    ["Cache", `${formatFigure(environment.cacheBlocks)} blocks of 16, ${environment.kvCacheDtype}`],
    ["Began", new Date(startedAt).toLocaleString()],
  ] as const;
  return (
    <>
      <dl className="section stack mt-4 gap-1 pt-4 t-12">
        {facts.map(([name, value]) => (
          <div key={name} className="grid grid-cols-[60px_minmax(0,1fr)] gap-2 text-ink-2">
            <dt className="text-ink-3">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {warnings.map((warning) => (
        // An empty one stays in the page, so that screen readers speak its changes.
        <p key={warning} className="small mt-2 text-warn empty:hidden">
          {warning}
        </p>
      ))}
    </>
  );
}

function ResultActions({ result }: { result: BenchResult }) {
  const [isCopied, setIsCopied] = useState(false);
  const name = `chorus-bench-${result.startedAt.slice(0, 10)}`;
  const csv = reportCsv(result);
  const files = [
    ["Markdown", "md", "text/markdown", reportMarkdown(result)],
    ["JSON", "json", "application/json", JSON.stringify(result, null, 1)],
    ...(csv === null ? [] : [["CSV", "csv", "text/csv", csv] as const]),
  ] as const;
  const copy = async () => {
    await navigator.clipboard.writeText(reportMarkdown(result));
    setIsCopied(true);
  };
  return (
    <div className="row ms-auto flex-wrap gap-1">
      <Button onClick={() => void copy()}>{isCopied ? "Copied" : "Copy tables"}</Button>
      {files.map(([format, ending, type, text]) => (
        <Button key={ending} icon="down" onClick={() => saveFile(`${name}.${ending}`, text, type)}>
          {format}
        </Button>
      ))}
    </div>
  );
}

/** The run's progress with a Stop button, or how it ended. */
function RunStatus({ control }: { control: BenchControl }) {
  const state = useStore(control.store);
  const isRunning = state.status === "running";
  return (
    <div className="stack mt-2 gap-2">
      {isRunning && (
        <>
          <Button className="mt-3" onClick={() => control.stop()}>
            Stop
          </Button>
          <progress aria-label="Progress" max={1} value={state.share} />
          <p className="small">{state.what}</p>
          <p className="small">About {formatDuration(state.leftSeconds)} left</p>
          <HiddenNote />
        </>
      )}
      <output className="small">{endingOf(state)}</output>
    </div>
  );
}

function endingOf({ status, what, result }: BenchState): string {
  switch (status) {
    case "idle":
    case "running":
      return "";
    case "done":
      return `Done in ${Math.round(result?.seconds ?? 0)} s`;
    case "stopped":
      return "Stopped. The figures so far are kept.";
    case "failed":
      return `It failed: ${what}`;
  }
}

/** Shown once the tab has been hidden. */
function HiddenNote() {
  const [wasHidden, setWasHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setWasHidden((before) => before || document.hidden);
    return listen(document, { visibilitychange: look });
  }, []);
  return (
    <p className="small mt-2 text-warn empty:hidden">
      {wasHidden && "This tab was hidden for a while, which may have slowed the figures down."}
    </p>
  );
}

function SectionView({ section }: { section: NamedSectionResult }) {
  const { title, about, headlines, charts, tables, notes } = section;
  const id = useId();
  return (
    <section className="box p-5 max-sm:p-4" aria-labelledby={id}>
      <h2 id={id} className="title">
        {title}
      </h2>
      <p className="small max-w-[80ch]">{about}</p>
      {headlines.length > 0 && (
        <div className="row mt-4 flex-wrap gap-x-8 gap-y-3">
          {headlines.map(([value, label]) => (
            <div key={label}>
              <b className="block tracking-[-0.02em] [font:600_32px/36px_var(--sans)]">{value}</b>
              <p className="small">{label}</p>
            </div>
          ))}
        </div>
      )}
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,460px),1fr))] gap-4">
        {charts.filter(hasLine).map((chart) => (
          <ChartView key={chart.title} chart={chart} />
        ))}
      </div>
      {tables.map((table) => (
        <DataTable
          key={table.title}
          className="figures mt-4 mb-2 overflow-x-auto"
          caption={table.title}
          columns={table.columns}
          rows={table.rows.map((row) => row.map(formatFigure))}
        />
      ))}
      {notes.map((note) => (
        <p key={note} className="small max-w-[80ch]">
          {note}
        </p>
      ))}
    </section>
  );
}

const HEIGHT = 300;

/** A chart as wide as its place, so that its text keeps its size. */
function ChartView({ chart }: { chart: ResultChart }) {
  const [width, setWidth] = useState(0);
  const observe = useCallback(
    (element: HTMLElement | null) => (element ? onResize(element, () => setWidth(element.clientWidth)) : undefined),
    [],
  );
  const svg = useMemo(() => (width > 0 ? chartSvg(chart, { width, height: HEIGHT }) : ""), [chart, width]);
  return (
    <figure ref={observe} className="mt-4">
      <figcaption className="pb-2 font-medium text-ink-2">{chart.title}</figcaption>
      {/* Generated by chart-svg.ts, which escapes all text. */}
      <div className="font-sans *:block" style={{ height: HEIGHT }} dangerouslySetInnerHTML={{ __html: svg }} />
    </figure>
  );
}

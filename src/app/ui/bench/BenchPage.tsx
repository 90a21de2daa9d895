import { useEffect, useState } from "react";
import {
  BenchControl,
  MEASURE_SECONDS,
  readBenchOptions,
  type BenchResult,
  formatFigure,
} from "../../../../lab/index.ts";
import type { CreateEngine } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";
import { More } from "../components/More.tsx";
import { PageHead } from "../bar/PageHead.tsx";
import { nameBrowser } from "../unsupported/describe-browser.ts";
import { useStore } from "../use-store.ts";
import { OptionsForm } from "./OptionsForm.tsx";
import { ResultActions } from "./ResultActions.tsx";
import { RunStatus } from "./RunStatus.tsx";
import { SectionView } from "./SectionView.tsx";

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
            <Introduction />
          )}
        </div>
      </main>
    </div>
  );
}

function Introduction() {
  return (
    <section className="box p-5 max-sm:p-4" aria-label="About">
      <h2 className="title">How fast is it here?</h2>
      <p className="mt-2 max-w-(--measure) t-14 text-ink-2">
        &ldquo;Measure&rdquo; compares sixteen answers at once with one alone, and gives one number. Everything runs on
        this page. &ldquo;More&rdquo; measures the engine in all its parts.
      </p>
      <p className="mt-2 max-w-(--measure) t-14 text-ink-2">
        Cases take turns, so that a disturbance affects all of them alike, and each figure is a median. Compare figures
        of one run only, and keep this tab in view: browsers slow background tabs.
      </p>
    </section>
  );
}

/** The circumstances of the figures. */
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

import { type BenchResult, formatFigure } from "../../../../lab/index.ts";

/** The circumstances of the figures. */
export function EnvironmentFacts({ result: { environment, startedAt, warnings } }: { result: BenchResult }) {
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

import { type BenchResult, formatFigure } from "../../../../lab/index.ts";
import css from "./EnvironmentFacts.module.css";

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
      <dl className={css.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="faint">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {warnings.map((warning) => (
        <p key={warning} className={css.warning}>
          {warning}
        </p>
      ))}
    </>
  );
}

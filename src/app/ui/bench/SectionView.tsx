import { useId } from "react";

import { type NamedSectionResult, hasLine, formatFigure } from "../../../../lab/index.ts";
import { DataTable } from "../components/DataTable.tsx";
import { ChartView } from "./ChartView.tsx";

/** One section's figures: headlines, charts, tables. */
export function SectionView({ section }: { section: NamedSectionResult }) {
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

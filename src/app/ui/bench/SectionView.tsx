import { useId } from "react";

import { type NamedSectionResult, hasLine, formatFigure } from "../../../../lab/index.ts";
import { DataTable } from "../components/DataTable.tsx";
import { ChartView } from "./ChartView.tsx";
import page from "./BenchPage.module.css";
import css from "./SectionView.module.css";

/** One section's figures: headlines, charts, tables. */
export function SectionView({ section }: { section: NamedSectionResult }) {
  const { title, about, headlines, charts, tables, notes } = section;
  const id = useId();
  return (
    <section className={page.box} aria-labelledby={id}>
      <h2 id={id} className="title">
        {title}
      </h2>
      <p className={css.about}>{about}</p>
      {headlines.length > 0 && (
        <div className={css.headlines}>
          {headlines.map(({ value, label }) => (
            <div key={label}>
              <b>{value}</b>
              <p className="small">{label}</p>
            </div>
          ))}
        </div>
      )}
      <div className={css.charts}>
        {charts.filter(hasLine).map((chart) => (
          <ChartView key={chart.title} chart={chart} />
        ))}
      </div>
      {tables.map((table) => (
        <DataTable
          key={table.title}
          className={css.table}
          caption={table.title}
          columns={table.columns}
          rows={table.rows.map((row) => row.map(formatFigure))}
        />
      ))}
      {notes.map((note) => (
        <p key={note} className={css.about}>
          {note}
        </p>
      ))}
    </section>
  );
}

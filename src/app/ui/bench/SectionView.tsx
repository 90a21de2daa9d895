import { useId } from "react";

import { type NamedSectionResult, type ResultTable, hasLine, formatFigure } from "../../../../lab/index.ts";
import { ChartView } from "./ChartView.tsx";
import css from "./SectionView.module.css";

/** One section's figures: headlines, charts, tables. */
export function SectionView({ section }: { section: NamedSectionResult }) {
  const { title, about, headlines, charts, tables, notes } = section;
  const id = useId();
  return (
    <section className={css.section} aria-labelledby={id}>
      <h2 id={id} className={css.title}>
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
        <TableView key={table.title} table={table} />
      ))}
      {notes.map((note) => (
        <p key={note} className={css.about}>
          {note}
        </p>
      ))}
    </section>
  );
}

function TableView({ table: { title, columns, rows } }: { table: ResultTable }) {
  return (
    <div className={css.scroll}>
      <table className={css.table}>
        <caption>{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{formatFigure(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

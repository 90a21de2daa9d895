import type { ReactNode } from "react";

interface DataTableProps {
  readonly caption?: string;
  readonly columns: readonly string[];
  /** The first cell names its row. */
  readonly rows: readonly (readonly ReactNode[])[];
  /** Of the box around it. [for screen readers only] */
  readonly className?: string | undefined;
}

/** Figures as a table: by default what a drawing shows, for screen readers. */
export function DataTable({ caption, columns, rows, className = "sr-only" }: DataTableProps) {
  return (
    <div className={className}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells], i) => (
            <tr key={i}>
              <th scope="row">{name}</th>
              {cells.map((cell, j) => (
                <td key={j}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

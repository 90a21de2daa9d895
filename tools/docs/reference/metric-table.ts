import { markdownTable } from "./generated-parts.ts";

/** @param text what /metrics answers @param which "histograms", or "counters and gauges" */
export function metricTable(text: string, which: string): string {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .map(([, name = "", help = ""]) => ({ name, help, type: types.get(name) ?? "" }))
    .filter(({ type }) => (type === "histogram") === (which === "histograms"));
  return which === "histograms"
    ? markdownTable(
        ["metric", "what it measures"],
        rows.map(({ name, help }) => [`\`${name}\``, help]),
      )
    : markdownTable(
        ["metric", "type", "what it counts"],
        rows.map(({ name, help, type }) => [`\`${name}\``, type, help]),
      );
}

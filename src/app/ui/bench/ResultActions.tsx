import { useState } from "react";
import { type BenchResult, reportCsv, reportMarkdown } from "../../../../lab/index.ts";
import { Button, Icon } from "../components/Button.tsx";
import { saveFile } from "../save-file.ts";

/** Copies or saves the figures. */
export function ResultActions({ result }: { result: BenchResult }) {
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
        <Button key={ending} onClick={() => saveFile(`${name}.${ending}`, text, type)}>
          <Icon name="down" />
          {format}
        </Button>
      ))}
    </div>
  );
}

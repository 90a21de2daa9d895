import { useState } from "react";

import { type BenchResult, reportCsv, reportMarkdown } from "../../../../lab/index.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { saveFile } from "../save-file.ts";

/** Copies or saves the figures. */
export function ResultActions({ result }: { result: BenchResult }) {
  const [isCopied, setIsCopied] = useState(false);
  const name = `chorus-bench-${result.startedAt.slice(0, 10)}`;
  const csv = reportCsv(result);
  const copy = async () => {
    await navigator.clipboard.writeText(reportMarkdown(result));
    setIsCopied(true);
  };
  return (
    <div className="row tight wrap end">
      <Button onClick={() => void copy()}>{isCopied ? "Copied" : "Copy tables"}</Button>
      <Button onClick={() => saveFile(`${name}.md`, reportMarkdown(result), "text/markdown")}>
        <Icon name="down" />
        Markdown
      </Button>
      <Button onClick={() => saveFile(`${name}.json`, JSON.stringify(result, null, 1), "application/json")}>
        <Icon name="down" />
        JSON
      </Button>
      {csv !== null && (
        <Button onClick={() => saveFile(`${name}.csv`, csv, "text/csv")}>
          <Icon name="down" />
          CSV
        </Button>
      )}
    </div>
  );
}

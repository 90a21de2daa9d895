import { useState } from "react";

import { type BenchResult, reportCsv, reportMarkdown } from "../../../../lab/index.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import css from "./ResultActions.module.css";

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
    <div className={css.actions}>
      <Button onClick={() => void copy()}>{isCopied ? "Copied" : "Copy tables"}</Button>
      <Button onClick={() => save(`${name}.md`, "text/markdown", reportMarkdown(result))}>
        <Icon name="down" />
        Markdown
      </Button>
      <Button onClick={() => save(`${name}.json`, "application/json", JSON.stringify(result, null, 1))}>
        <Icon name="down" />
        JSON
      </Button>
      {csv !== null && (
        <Button onClick={() => save(`${name}.csv`, "text/csv", csv)}>
          <Icon name="down" />
          CSV
        </Button>
      )}
    </div>
  );
}

function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

import { useState } from "react";
import type { ChorusErrorData } from "../../protocol/errors.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { Logo } from "../components/Logo.tsx";
import { Button } from "../components/Button.tsx";
import { nameBrowser, suggestRemedy } from "./describe-browser.ts";
import css from "./UnsupportedPage.module.css";

/** Replaces the app if there is no WebGPU: says what is missing and what to do in this browser. */
export function UnsupportedPage({ engine, error }: { engine: EngineControl; error: ChorusErrorData }) {
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  const hasGpu = "gpu" in navigator;
  const { userAgent } = navigator;
  const found = `${nameBrowser(userAgent)}; ${error.message}`;
  const remedy = suggestRemedy({ userAgent, hasGpu, isSecureContext });
  const details = [
    `Chorus: ${error.message}`,
    `Browser: ${userAgent}`,
    `navigator.gpu: ${hasGpu ? "present" : "missing"}`,
    `Secure context: ${isSecureContext ? "yes" : "no"}`,
    `Address: ${location.origin}`,
  ].join("\n");

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(details);
      setCopied("yes");
    } catch {
      setCopied("failed");
    }
  };
  return (
    <main className={css.page}>
      <div className={css.brand}>
        <Logo />
        Chorus
      </div>
      <div className={css.card}>
        <h1>{hasGpu ? "WebGPU finds no graphics adapter" : "This browser has no WebGPU"}</h1>
        <p>
          Chorus runs the model on your graphics card through WebGPU, which{" "}
          {hasGpu ? "found none that it may use." : "this browser does not offer here."} Nothing was downloaded.
        </p>
        <dl className={css.facts}>
          <dt>Try this</dt>
          <dd className={css.remedy}>{remedy}</dd>
          <dt>Works in</dt>
          <dd>
            Chrome or Edge 113 (on Linux 145, or earlier with flags), Safari 26, Firefox 141 on Windows, and later
          </dd>
          <dt>Found</dt>
          <dd>{found}</dd>
        </dl>
        <div className={css.actions}>
          <Button look="ink" onClick={() => void engine.start()}>
            Check again
          </Button>
          <Button onClick={() => void copy()}>Copy the details</Button>
          <output>{copied === "yes" && "Copied"}</output>
        </div>
        {copied === "failed" && <pre className={css.details}>{details}</pre>}
      </div>
    </main>
  );
}

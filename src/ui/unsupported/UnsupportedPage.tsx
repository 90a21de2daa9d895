import type { ChorusErrorData } from "../../protocol/errors.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { Logo } from "../components/Logo.tsx";
import { Button } from "../components/Button.tsx";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { BROWSERS_WITH_WEBGPU, nameBrowser, suggestRemedy } from "./describe-browser.ts";
import css from "./UnsupportedPage.module.css";

/** Replaces the app if there is no WebGPU: says what is missing and what to do in this browser. */
export function UnsupportedPage({ engine, error }: { engine: EngineControl; error: ChorusErrorData }) {
  const hasGpu = "gpu" in navigator;
  const { userAgent } = navigator;
  const found = `${nameBrowser(userAgent)}; ${error.message}`;
  const remedy = suggestRemedy({ userAgent, hasGpu, isSecureContext });

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
          <dd>{BROWSERS_WITH_WEBGPU}</dd>
          <dt>Found</dt>
          <dd>{found}</dd>
        </dl>
        <div className={css.actions}>
          <Button look="ink" onClick={() => void engine.start()}>
            Check again
          </Button>
          <CopyDetails error={error} />
        </div>
      </div>
    </main>
  );
}

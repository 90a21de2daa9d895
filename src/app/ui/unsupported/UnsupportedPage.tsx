import type { ChorusErrorData } from "../../../index.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../components/Button.tsx";
import card from "../components/Card.module.css";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { Logo } from "../components/Logo.tsx";
import logo from "../components/Logo.module.css";
import { BROWSERS_WITH_WEBGPU, nameBrowser, suggestRemedy } from "./describe-browser.ts";
import css from "./UnsupportedPage.module.css";

/** Replaces the app if neither GPU nor CPU can be used: says what is missing and what to do in this browser. */
export function UnsupportedPage({ engine, error }: { engine: EngineControl; error: ChorusErrorData }) {
  const hasGpu = "gpu" in navigator;
  // Only if WebGPU was requested by name; else the CPU would run.
  const isAboutGpu = error.code === "webgpu_unavailable";
  const { userAgent } = navigator;
  const found = `${nameBrowser(userAgent)}; ${error.message}`;
  const remedy = suggestRemedy({ userAgent, hasGpu, isSecureContext });

  return (
    <main className={css.page}>
      <div className={logo.brand}>
        <Logo />
        Chorus
      </div>
      <div className={card.card}>
        <h1>{headingFor(isAboutGpu, hasGpu)}</h1>
        <p>
          {isAboutGpu
            ? `You chose to run the model on the GPU through WebGPU, which ${hasGpu ? "found none that it may use" : "this browser does not offer here"}.`
            : "Chorus needs a GPU, or WebAssembly that computes with vectors (SIMD); this browser offers neither here."}{" "}
          Nothing was downloaded.
        </p>
        <dl className={css.facts}>
          <dt>Try this</dt>
          <dd className={css.remedy}>{remedy}</dd>
          <dt>Works in</dt>
          <dd>{BROWSERS_WITH_WEBGPU}</dd>
          <dt>Found</dt>
          <dd>{found}</dd>
        </dl>
        <div className={classNames(card.actions, css.actions)}>
          {isAboutGpu && (
            <Button look="ink" onClick={() => void engine.useBackend("cpu")}>
              Run on the CPU
            </Button>
          )}
          <Button look={isAboutGpu ? "outlined" : "ink"} onClick={() => void engine.start()}>
            Check again
          </Button>
          <CopyDetails error={error} />
          <DocsLink page="troubleshooting" at={error.code}>
            About this error
          </DocsLink>
          <a href="#/player">Play a recording instead</a>
        </div>
      </div>
    </main>
  );
}

function headingFor(isAboutGpu: boolean, hasGpu: boolean): string {
  if (!isAboutGpu) return "This browser can't run a model";
  return hasGpu ? "WebGPU finds no graphics adapter" : "This browser has no WebGPU";
}

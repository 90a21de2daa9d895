import type { ChorusErrorData } from "../../../index.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { lazily } from "../components/Lazily.tsx";
import { Logo } from "../components/Logo.tsx";
import { nameBrowser } from "./describe-browser.ts";
import css from "./UnsupportedPage.module.css";

const DocsSection = lazily(async () => (await import("../docs/DocsPage.tsx")).DocsSection);

/** Replaces the app if neither GPU nor CPU can be used: says what is missing, and shows what to do in each browser. */
export function UnsupportedPage({ engine, error }: { engine: EngineControl; error: ChorusErrorData }) {
  const hasGpu = "gpu" in navigator;
  // Only if WebGPU was requested by name; else the CPU would run.
  const isAboutGpu = error.code === "webgpu_unavailable";

  return (
    <main className={css.page}>
      <div className="brand">
        <Logo />
        Chorus
      </div>
      <div className="box poster">
        <h1 className="heading">{headingFor(isAboutGpu, hasGpu)}</h1>
        <p>
          {isAboutGpu
            ? `You chose to run the model on the GPU through WebGPU, which ${hasGpu ? "found none that it may use" : "this browser does not offer here"}.`
            : "Chorus needs a GPU, or WebAssembly that computes with vectors (SIMD); this browser offers neither here."}{" "}
          Nothing was downloaded.
          {!isSecureContext && " Open this page over https:// or on localhost: elsewhere browsers hide WebGPU."}
        </p>
        <p className={css.found}>
          Found: {nameBrowser(navigator.userAgent)}. {error.message}
        </p>
        <div className={css.actions}>
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
          <a className="button outlined" href="#/player">
            Play a recording instead
          </a>
        </div>
        <div className={css.remedies}>
          <DocsSection name="troubleshooting" at="a-browser-without-webgpu" />
        </div>
      </div>
    </main>
  );
}

function headingFor(isAboutGpu: boolean, hasGpu: boolean): string {
  if (!isAboutGpu) return "This browser can't run a model";
  return hasGpu ? "WebGPU finds no graphics adapter" : "This browser has no WebGPU";
}

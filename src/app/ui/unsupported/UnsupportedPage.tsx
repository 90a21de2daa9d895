import type { ChorusErrorData } from "../../../index.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { Logo } from "../components/Logo.tsx";
import { nameBrowser } from "./describe-browser.ts";

const DocsSection = lazyComponent(async () => (await import("../docs/DocsPage.tsx")).DocsSection);

/** Replaces the app if neither GPU nor CPU can be used: says what is missing, and shows what to do in each browser. */
export function UnsupportedPage({ engine, error }: { engine: EngineControl; error: ChorusErrorData }) {
  return (
    <main className="grid min-h-full content-center justify-center justify-items-start gap-4 px-4 py-6">
      <div className="brand">
        <Logo />
        Chorus
      </div>
      <div className="box poster">
        <h1 className="heading">{isSecureContext ? "This browser can't run a model" : "This page needs https"}</h1>
        <p>
          {isSecureContext
            ? "Chorus needs a GPU, or WebAssembly that computes with vectors (SIMD); this browser offers neither here."
            : "Open this page over https:// or on localhost: elsewhere browsers hide WebGPU."}{" "}
          Nothing was downloaded.
        </p>
        <p className="mt-3 wrap-anywhere">
          Found: {nameBrowser(navigator.userAgent)}. {error.message}
        </p>
        <div className="row mt-6 flex-wrap text-ink-2">
          <Button look="ink" onClick={() => void engine.start()}>
            Check again
          </Button>
          <CopyDetails error={error} />
          <DocsLink page="troubleshooting" at={error.code}>
            About this error
          </DocsLink>
          <a className="button" href="#/player">
            Play a recording instead
          </a>
        </div>
        <div className="section mt-6 pt-4">
          <DocsSection name="troubleshooting" at="a-browser-without-webgpu" />
        </div>
      </div>
    </main>
  );
}

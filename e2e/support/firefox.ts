// A Firefox to open what was built in. Playwright can't drive a Firefox as its makers release it, hence puppeteer-core.

import type { Browser, Page } from "puppeteer-core";
import { createServer, type ViteDevServer } from "vite";
import { launchFirefox, listFirefoxes } from "../../tools/browsers/find-firefox.mjs";
import { root } from "../../tools/run-command.mjs";
import { StaticSite } from "./static-site.ts";
import { toastsStay } from "./toasts-stay.ts";

/** tools/test.mjs names one that it has tried; "" where there is none. Run by hand, the first that is there. */
const executablePath = process.env.CHORUS_FIREFOX ?? listFirefoxes()[0] ?? "";
export const hasFirefox = executablePath !== "";

/** For each thing that is waited for, as elsewhere. */
const PATIENCE_MS = 120_000;

export class Firefox {
  /** Errors and warnings of all pages' consoles, what they threw, and what their policies forbade. */
  readonly problems: string[] = [];
  /** The address of the built app. */
  readonly appUrl: string;
  readonly #browser: Browser;
  readonly #site: StaticSite;
  readonly #modules: ViteDevServer;

  private constructor(browser: Browser, site: StaticSite, modules: ViteDevServer) {
    this.#browser = browser;
    this.#site = site;
    this.#modules = modules;
    this.appUrl = site.url;
  }

  /** @param preferences as about:config names them */
  static async open(preferences: Readonly<Record<string, unknown>> = {}): Promise<Firefox> {
    const site = await StaticSite.open(`${root}/dist`);
    // The fixtures and the modules of tests/, with what was built as it is at /built/.
    const modules = await createServer({
      root,
      configFile: false,
      logLevel: "error",
      optimizeDeps: { noDiscovery: true },
      server: {
        host: "127.0.0.1",
        hmr: false,
        watch: null,
        proxy: {
          "/built/": {
            target: new URL(site.url).origin,
            rewrite: (path) => path.replace("/built/", new URL(site.url).pathname),
          },
        },
      },
    });
    await modules.listen();
    return new Firefox(await launchFirefox(executablePath, preferences), site, modules);
  }

  async newPage(url: string): Promise<Page> {
    const page = await this.#browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.evaluateOnNewDocument(toastsStay);
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type())) this.problems.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.problems.push(String(error)));
    await page.evaluateOnNewDocument(() => {
      addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
        console.error(`forbidden: ${effectiveDirective} ${blockedURI}`),
      );
    });
    await page.setViewport({ width: 1440, height: 900 });
    await page.goto(url);
    return page;
  }

  /** A page that can be asked for the checks of tests/requests/library-checks.ts, on the built library. */
  async libraryPage(): Promise<LibraryPage> {
    const [url = ""] = this.#modules.resolvedUrls?.local ?? [];
    return new LibraryPage(await this.newPage(`${url}e2e/support/bare.html`));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#modules.close();
    await this.#site.switchOff();
  }
}

type Checks = typeof import("../../tests/requests/library-checks.ts");
type Rest<T> = T extends [unknown, ...infer Others] ? Others : never;

export class LibraryPage {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async find<Name extends keyof Checks>(
    name: Name,
    ...given: Rest<Parameters<Checks[Name]>>
  ): Promise<Awaited<ReturnType<Checks[Name]>>> {
    // As text: a function's import() would be Vitest's own.
    const found = await this.#page.evaluate(`Promise.all([
      import("/built/lib/chorus.js"),
      import("/tests/requests/library-checks.ts"),
    ]).then(([{ createEngine }, checks]) => checks.${name}(createEngine, ...${JSON.stringify(given)}))`);
    return found as Awaited<ReturnType<Checks[Name]>>;
  }
}

import { createStore, type ReadonlyStore } from "../store.ts";

const CHECK_EVERY_MS = 60 * 60 * 1000;

/** Stores the app for offline use and reports when a newer version is available. Never reloads by itself. */
export class AppUpdates {
  readonly #store = createStore<boolean>(() => false);
  /** Whether a reload would load a newer version. */
  readonly store: ReadonlyStore<boolean> = this.#store;
  readonly #script: string;

  /** @param scriptUrl the page's own script; the build puts a hash of all code into its name */
  constructor(scriptUrl: string) {
    this.#script = scriptUrl.split("/").at(-1) ?? "";
  }

  /**
   * Without service workers (no https) the app still works, but needs the network.
   * @param afterFirstLoad resolves when downloads for later slow down neither the first model nor the first answer
   */
  async start(serviceWorkerUrl: string, afterFirstLoad: Promise<void>): Promise<void> {
    const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
    if (workers === undefined) return;
    await afterFirstLoad;
    try {
      const registration = await workers.register(serviceWorkerUrl);
      registration.addEventListener("updatefound", () => this.#follow(registration));
      this.#follow(registration);
      setInterval(() => void registration.update().catch(() => undefined), CHECK_EVERY_MS);
    } catch (error) {
      // A private window may forbid it, or a download may fail. The next visit tries again.
      console.warn("Chorus could not be kept for use without network.", error);
    }
  }

  #follow(registration: ServiceWorkerRegistration): void {
    const incoming = registration.installing;
    incoming?.addEventListener("statechange", () => {
      if (incoming.state === "activated") void this.#compare();
    });
  }

  /** The page that was just loaded may already be the new version. */
  async #compare(): Promise<void> {
    try {
      const page = await (await fetch("./", { cache: "no-cache" })).text();
      this.#store.setState(!page.includes(this.#script), true);
    } catch {
      // The server is out of reach; the next check tries again.
    }
  }
}

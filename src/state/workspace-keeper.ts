import type { Pane } from "./pane.ts";
import type { SharedSettings } from "./shared-settings.ts";
import { createStore, type ReadonlyStore } from "./store.ts";
import type { LoadedWorkspace, WorkspaceStorage } from "./workspace-storage.ts";
import type { Workspace } from "./workspace.ts";

/**
 * kept: all is written down. damaged: so it is, but what was there before could not be read. elsewhere: another tab has
 * taken over. not-kept: the browser does not let us.
 */
export type KeepingStatus = "kept" | "damaged" | "elsewhere" | "not-kept";

/** Text comes many times a second; what is written down may be this much older. */
const PAUSE_MS = 500;

/** Writes the workspace down, soon after it has changed and at once when the page goes. */
export class WorkspaceKeeper {
  readonly store: ReadonlyStore<KeepingStatus>;
  readonly #store = createStore<KeepingStatus>(() => "kept");
  readonly #storage: WorkspaceStorage;
  readonly #workspace: Workspace;
  readonly #paneSubscriptions = new Map<Pane, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    storage: WorkspaceStorage,
    loaded: LoadedWorkspace["status"],
    workspace: Workspace,
    settings: SharedSettings,
  ) {
    this.store = this.#store;
    this.#storage = storage;
    this.#workspace = workspace;
    if (loaded !== "ok") this.#store.setState(loaded === "damaged" ? "damaged" : "not-kept", true);
    workspace.store.subscribe(({ panes }) => {
      this.#follow(panes);
      this.#saveSoon();
    });
    settings.store.subscribe(() => this.#saveSoon());
    this.#follow(workspace.store.getState().panes);
  }

  /** Another tab writes from now on: two would overwrite each other. */
  handOver(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#store.setState("elsewhere", true);
  }

  /** Writes down what has changed and was not written yet. */
  readonly flush = (): void => {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#save();
  };

  #follow(panes: readonly Pane[]): void {
    for (const [pane, unsubscribe] of this.#paneSubscriptions) {
      if (panes.includes(pane)) continue;
      unsubscribe();
      this.#paneSubscriptions.delete(pane);
    }
    for (const pane of panes) {
      if (!this.#paneSubscriptions.has(pane)) {
        this.#paneSubscriptions.set(
          pane,
          pane.store.subscribe(() => this.#saveSoon()),
        );
      }
    }
  }

  #saveSoon(): void {
    const status = this.#store.getState();
    if (status === "kept" || status === "damaged") this.#timer ??= setTimeout(this.flush, PAUSE_MS);
  }

  async #save(): Promise<void> {
    try {
      await this.#storage.save(this.#workspace.toSaved());
    } catch {
      this.#store.setState("not-kept", true);
    }
  }
}

import type { Pane } from "../chat/pane.ts";
import { reconcile } from "./reconcile-workspaces.ts";
import type { SavedPane, SavedWorkspace } from "./saved-workspace.ts";
import type { SharedSettings } from "../settings/shared-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { LoadedWorkspace, WorkspaceStorage } from "./workspace-storage.ts";
import type { Workspace } from "./workspace.ts";

/**
 * kept: all is written down. damaged: so it is, but what was there before could not be read. elsewhere: another tab has
 * taken over. crowded: it is gone, and there is no room here for the chats it has left. not-kept: the browser does not let
 * us.
 */
export type KeepingStatus = "kept" | "damaged" | "elsewhere" | "crowded" | "not-kept";

/** Text comes many times a second; what is written down may be this much older. */
const PAUSE_MS = 500;

/** Writes the workspace down, soon after it has changed and at once when the page goes. */
export class WorkspaceKeeper {
  readonly #store = createStore<KeepingStatus>(() => "kept");
  readonly store: ReadonlyStore<KeepingStatus> = this.#store;
  readonly #storage: WorkspaceStorage;
  readonly #workspace: Workspace;
  readonly #settings: SharedSettings;
  readonly #paneSubscriptions = new Map<Pane, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What was read or written last, by this tab. */
  #lastKept: SavedWorkspace;
  /** Chats of another tab that wait for room here. */
  #left: readonly SavedPane[] = [];
  /** Which change of hands was the newest. */
  #numChanges = 0;
  /** Lets this tab keep the chats, and not another; set by who knows of others. */
  takeOver: () => void = () => undefined;

  constructor(
    storage: WorkspaceStorage,
    loaded: LoadedWorkspace["status"],
    workspace: Workspace,
    settings: SharedSettings,
  ) {
    this.#storage = storage;
    this.#workspace = workspace;
    this.#settings = settings;
    this.#lastKept = workspace.toSaved();
    if (loaded !== "ok") this.#store.setState(loaded === "damaged" ? "damaged" : "not-kept", true);
    workspace.store.subscribe(({ panes }) => {
      this.#follow(panes);
      if (this.#store.getState() === "crowded") this.#openLeft("kept");
      this.#saveSoon();
    });
    settings.store.subscribe(() => this.#saveSoon());
    this.#follow(workspace.store.getState().panes);
  }

  /** Another tab writes from now on: two would overwrite each other. */
  handOver(): void {
    this.#numChanges++;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#store.setState("elsewhere", true);
  }

  /**
   * This tab writes again. What the other has written comes here first: in the place of what is here where nothing has
   * changed since, and else its chats beside those that are here.
   */
  async takeBack(): Promise<void> {
    const change = ++this.#numChanges;
    const { saved: there, status } = await this.#storage.load();
    if (change !== this.#numChanges) return;
    const isBusy = this.#workspace.store.getState().panes.some((pane) => pane.store.getState().phase !== "idle");
    const plan = reconcile(this.#lastKept, this.#workspace.toSaved(), there, isBusy);
    if (plan.kind === "restore") {
      this.#settings.replace(plan.saved.shared);
      this.#workspace.restore(plan.saved);
    }
    this.#left = plan.kind === "add" ? plan.chats : [];
    this.#openLeft(status === "ok" ? "kept" : status === "damaged" ? "damaged" : "not-kept");
  }

  /** Writes down what has changed and was not written yet. */
  readonly flush = (): void => {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#save();
  };

  /** Goes on keeping once all that another tab has left is here. */
  #openLeft(status: KeepingStatus): void {
    const chats = this.#left;
    const hasRoom = chats.length <= this.#workspace.room();
    this.#store.setState(hasRoom ? status : "crowded", true);
    if (!hasRoom) return;
    this.#left = [];
    if (chats.length > 0) this.#workspace.addChats(chats);
    this.#saveSoon();
  }

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
    const saved = this.#workspace.toSaved();
    try {
      await this.#storage.save(saved);
      this.#lastKept = saved;
    } catch {
      this.#store.setState("not-kept", true);
    }
  }
}

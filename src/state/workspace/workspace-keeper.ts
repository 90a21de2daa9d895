import type { Pane } from "../chat/pane.ts";
import { reconcile } from "./reconcile-workspaces.ts";
import type { SavedPane, SavedWorkspace } from "./saved-workspace.ts";
import type { SharedSettings } from "../settings/shared-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { LoadedWorkspace, WorkspaceStorage } from "./workspace-storage.ts";
import type { Workspace } from "./workspace.ts";

/**
 * kept: everything is saved. damaged: as kept, but the earlier record could not be read. elsewhere: another tab saves
 * the chats. crowded: that tab closed, and there is no room here for its chats. not-kept: the browser forbids it.
 */
export type KeepingStatus = "kept" | "damaged" | "elsewhere" | "crowded" | "not-kept";

/** Text arrives many times per second; the saved chats may lag by this much. */
const PAUSE_MS = 500;

/** Saves the workspace soon after it has changed, and at once when the page closes. */
export class WorkspaceKeeper {
  readonly #store = createStore<KeepingStatus>(() => "kept");
  readonly store: ReadonlyStore<KeepingStatus> = this.#store;
  readonly #storage: WorkspaceStorage;
  readonly #workspace: Workspace;
  readonly #settings: SharedSettings;
  readonly #paneSubscriptions = new Map<Pane, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What this tab last read or wrote. */
  #lastKept: SavedWorkspace;
  /** Chats of another tab that wait for room here. */
  #left: readonly SavedPane[] = [];
  /** Number of the newest handover. */
  #numChanges = 0;
  /** Makes this tab save the chats instead of another; set by KeepingTurn. */
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

  /** Stops saving: another tab does it now, and two would overwrite each other. */
  handOver(): void {
    this.#numChanges++;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#store.setState("elsewhere", true);
  }

  /**
   * Saves again. What the other tab saved is read first: it replaces the chats here if they have not changed since,
   * else its chats are opened beside them.
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

  /** Saves unsaved changes. */
  readonly flush = (): void => {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#save();
  };

  /** Resumes saving once all chats of the other tab are open here. */
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

import type { Pane } from "../chat/pane.ts";
import type { StoredChats } from "../history/stored-chats.ts";
import { reconcile, unknownChats } from "./reconcile-workspaces.ts";
import type { SavedPane, SavedWorkspace } from "./saved-workspace.ts";
import type { SharedSettings } from "../settings/shared-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { LoadedWorkspace, WorkspaceStorage } from "./workspace-storage.ts";
import type { Workspace } from "./workspace.ts";

/**
 * kept: everything is saved. damaged: as kept, but the earlier record could not be read. elsewhere: another tab saves the
 * chats. not-kept: the browser forbids it, or has no space; saving is retried until it works.
 */
export type KeepingStatus = "kept" | "damaged" | "elsewhere" | "not-kept";

/** Text arrives many times per second; the saved chats may lag by this much. */
const PAUSE_MS = 500;
/** Pause between two batches of closed chats. */
const SHORT_PAUSE_MS = 50;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/** Saves the workspace soon after it has changed, and at once when the page closes. */
export class WorkspaceKeeper {
  readonly #store = createStore<KeepingStatus>(() => "kept");
  readonly store: ReadonlyStore<KeepingStatus> = this.#store;
  readonly #storage: WorkspaceStorage;
  readonly #workspace: Workspace;
  readonly #settings: SharedSettings;
  readonly #paneSubscriptions = new Map<Pane, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The workspace that this tab last read or wrote. */
  #lastKept: SavedWorkspace;
  /** Number of the newest handover or attempt. */
  #numChanges = 0;
  #retryMs = FIRST_RETRY_MS;
  /** Whether this tab has read the earlier save. If not, it must not overwrite that. */
  #hasRead: boolean;
  /** Whether this tab's chats were saved aside, since another tab saves the chats. */
  #isAside = false;
  /** Makes this tab save the chats instead of another; set by KeepingTurn. */
  takeOver: () => void = () => undefined;

  constructor(
    storage: WorkspaceStorage,
    { status, left }: Pick<LoadedWorkspace, "status" | "left">,
    workspace: Workspace,
    settings: SharedSettings,
  ) {
    this.#storage = storage;
    this.#workspace = workspace;
    this.#settings = settings;
    this.#lastKept = workspace.toSaved();
    this.#hasRead = status !== "unavailable";
    if (status !== "ok") this.#store.setState(status === "damaged" ? "damaged" : "not-kept", true);
    if (!this.#hasRead) this.#retryLater();
    storage.onDeleted = () => this.#saveSoon();
    workspace.store.subscribe(({ panes }) => {
      this.#follow(panes);
      this.#saveSoon();
    });
    settings.store.subscribe(() => this.#saveSoon());
    workspace.closed.store.subscribe(() => {
      if (workspace.closed.isPending) this.#saveSoon(SHORT_PAUSE_MS);
    });
    this.#follow(workspace.store.getState().panes);
    if (left.length > 0) {
      this.#openLeft(unknownChats(left, [this.#lastKept]));
      this.#saveSoon();
    }
  }

  readonly storedChats = (): Promise<StoredChats> => this.#storage.storedChats();

  /** Stops saving: another tab does it now, and two would overwrite each other. */
  handOver(): void {
    this.#numChanges++;
    const isUnsaved = this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#store.setState("elsewhere", true);
    if (isUnsaved) this.#saveSoon();
  }

  /**
   * Saves again, after reading the other tab's save: it replaces the chats here if they have not changed since, else its chats
   * are opened beside them.
   */
  async takeBack(): Promise<void> {
    const status = await this.#merge();
    if (status === "unavailable") return this.#fail();
    if (status === null) return;
    this.#store.setState(status === "ok" ? "kept" : status, true);
    this.#saveSoon();
  }

  /** Saves unsaved changes when the page closes, and leaves them to the next page as well. */
  leave(): void {
    this.flush();
    this.#storage.leave();
  }

  /** Saves unsaved changes. */
  readonly flush = (): void => {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void (this.#hasRead ? this.#save() : this.#retry());
  };

  /** Reads the save, and merges it with the chats here. Returns null if another call has come in between. */
  async #merge(): Promise<LoadedWorkspace["status"] | null> {
    const change = ++this.#numChanges;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { saved: there, left, status } = await this.#storage.load();
    if (change !== this.#numChanges) return null;
    if (status === "unavailable") return status;
    this.#hasRead = true;
    const isBusy = this.#workspace.store.getState().panes.some((pane) => pane.store.getState().phase !== "idle");
    const plan = reconcile(this.#lastKept, this.#workspace.toSaved(), there, isBusy);
    if (plan.kind === "restore") {
      this.#settings.replace(plan.saved.shared);
      this.#workspace.restore(plan.saved);
    }
    const others = plan.kind === "add" ? plan.chats : [];
    this.#openLeft([...others, ...unknownChats(left, [this.#workspace.toSaved(), ...(there ? [there] : [])])]);
    return status;
  }

  /** Opens chats of another tab in panes. Those that have no room are in the list of chats. */
  #openLeft(chats: readonly SavedPane[]): void {
    if (chats.length === 0) return;
    const { keys } = this.#workspace.addChats(chats);
    if (keys.length > 0) {
      const chatsAre = keys.length === 1 ? "A chat of another tab is" : `${keys.length} chats of another tab are`;
      this.#workspace.undoList.notify(`${chatsAre} in the list of chats`);
    }
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

  #saveSoon(pauseMs = PAUSE_MS): void {
    if (this.#store.getState() !== "not-kept") this.#timer ??= setTimeout(this.flush, pauseMs);
  }

  async #save(): Promise<void> {
    const saved = this.#workspace.toSaved();
    const { closed } = this.#workspace;
    const moves = closed.next();
    const change = this.#numChanges;
    if (this.#store.getState() === "elsewhere") {
      this.#isAside = true;
      await this.#storage.saveAside(saved, moves).then(
        () => closed.stored(moves),
        () => undefined,
      );
      return;
    }
    try {
      await this.#storage.save(saved, moves);
    } catch {
      if (change === this.#numChanges) this.#fail();
      return;
    }
    closed.stored(moves);
    this.#lastKept = saved;
    this.#retryMs = FIRST_RETRY_MS;
    if (this.#isAside) {
      this.#isAside = false;
      await this.#storage.clearAside().catch(() => undefined);
    }
    if (this.#store.getState() !== "not-kept") return;
    this.#store.setState("kept", true);
    // For later changes.
    this.#saveSoon();
  }

  #fail(): void {
    this.#store.setState("not-kept", true);
    this.#retryLater();
  }

  #retryLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#retry(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  /** Tries to save again, after reading the save: another tab may have saved meanwhile, or there is none. */
  async #retry(): Promise<void> {
    const status = await this.#merge();
    if (status === "unavailable") this.#fail();
    if (status === null || status === "unavailable") return;
    await this.#save();
  }
}

import {
  toErrorData,
  type CatalogueEntry,
  type ChorusErrorData,
  type DownloadProgress,
  type HubOptions,
  type ModelEstimate,
  type Models,
  type StoredModel,
  type WeightsDtype,
} from "../../../index.ts";
import { errorOf } from "../error-of.ts";
import { isOfDtype, REPLACED, type EngineControl } from "../engine/engine-control.ts";
import type { ScheduleFlush } from "../frame-flusher.ts";
import { EMBEDDED_MODEL } from "./embedded-model.ts";
import {
  isNamed,
  keyOfChoice,
  labelOfChoice,
  namedChoice,
  type ModelChoice,
  type NamedChoice,
} from "./model-choice.ts";
import { listModels, type ListedModel } from "./model-list.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const EMBEDDED: NamedChoice = { model: EMBEDDED_MODEL };

const AT_REST = {
  isDownloading: false,
  /** Progress of the download; null until it is known. */
  progress: null as DownloadProgress | null,
  isEstimating: false,
  estimate: null as ModelEstimate | null,
  /** Why there is no estimate. It is not the error of an action. */
  estimateError: null as ChorusErrorData | null,
  /** Error of the last action on this model. */
  error: null as ChorusErrorData | null,
};

interface ModelWork extends Readonly<typeof AT_REST> {
  /** Weight format in memory; null: the adapter's default. */
  readonly dtype: WeightsDtype | null;
}

export interface LibraryModel extends ListedModel, ModelWork {}

export interface ModelLibraryState {
  readonly models: readonly LibraryModel[];
  /** Key of the model to which the engine is switching, or "files". */
  readonly switchingTo: string | null;
  /** Error of the last action on a model that isn't in the list. */
  readonly error: ChorusErrorData | null;
}

interface ModelLibraryOptions {
  readonly models: Models;
  readonly engine: EngineControl;
  readonly scheduleFlush: ScheduleFlush;
  readonly announce: (text: string) => void;
  /** Called when a chosen model runs. */
  readonly onChosen: (choice: ModelChoice) => void;
}

/** The models to choose from. Downloads, deletes, estimates and loads them. */
export class ModelLibrary {
  readonly #store = createStore<ModelLibraryState>(() => ({ models: [], switchingTo: null, error: null }));
  readonly store: ReadonlyStore<ModelLibraryState> = this.#store;
  /** The first model of the catalogue; null if it has none. */
  readonly recommended: CatalogueEntry | null;
  readonly #options: ModelLibraryOptions;
  /** By key. */
  readonly #downloads = new Map<string, { readonly abort: AbortController; readonly ended: Promise<void> }>();
  #stored: readonly StoredModel[] = [];
  #added: readonly NamedChoice[] = [];

  constructor(options: ModelLibraryOptions) {
    this.#options = options;
    this.recommended = options.models.catalogue[0] ?? null;
    const chosen = options.engine.chosen.getState().model;
    if (isNamed(chosen)) this.#added = [chosen];
    this.#list();
  }

  /** Reads the stored models again: other tabs download and delete too. */
  async refresh(): Promise<void> {
    try {
      this.#stored = await this.#options.models.list();
    } catch (error) {
      this.#store.setState({ error: toErrorData(error) });
    }
    this.#list();
  }

  /**
   * Puts a model before the other added ones, by hub id or folder URL as a person wrote it, and looks it up. Returns its key; null
   * if that is no address. One that isn't there leaves the list, and a message.
   * @param onFound called if it is there
   */
  add(text: string, hub: HubOptions = {}, onFound?: () => void): string | null {
    this.#store.setState({ error: null });
    try {
      const choice = namedChoice(text.trim(), hub);
      const key = keyOfChoice(choice);
      this.#added = [choice, ...this.#added.filter((other) => keyOfChoice(other) !== key)];
      this.#list();
      void this.#lookUp(key, onFound);
      return key;
    } catch (error) {
      this.#store.setState({ error: toErrorData(error) });
      return null;
    }
  }

  setDtype(key: string, dtype: WeightsDtype | null): void {
    this.#update(key, { dtype });
    void this.estimate(key);
  }

  /** Estimates the memory that a model needs here. */
  async estimate(key: string): Promise<void> {
    const model = this.#find(key);
    if (!model) return;
    const { dtype } = model;
    this.#update(key, { isEstimating: true, estimateError: null });
    try {
      const estimate = await this.#options.models.estimate(model.choice.model, {
        ...this.#hubOf(model),
        backend: this.#options.engine.chosen.getState().backend,
        ...(dtype && { dtype }),
      });
      if (this.#find(key)?.dtype === dtype) this.#update(key, { isEstimating: false, estimate });
    } catch (error) {
      const estimateError = toErrorData(error);
      if (this.#find(key)?.dtype !== dtype) return;
      if (dtype && isOfDtype(estimateError)) this.setDtype(key, null);
      else this.#update(key, { isEstimating: false, estimateError });
    }
  }

  /** Downloads a model, or resumes its download. */
  async download(key: string): Promise<void> {
    const model = this.#find(key);
    if (!model || this.#downloads.has(key)) return;
    const abort = new AbortController();
    const ended = this.#download(model, abort.signal);
    this.#downloads.set(key, { abort, ended });
    await ended;
  }

  /** Pauses a download and keeps what has arrived. */
  async pause(key: string): Promise<void> {
    const download = this.#downloads.get(key);
    download?.abort.abort();
    await download?.ended;
  }

  /** Deletes a model's files and stops its download. */
  async remove(key: string): Promise<void> {
    const model = this.#find(key);
    if (!model) return;
    await this.pause(key);
    const error = await errorOf(this.#options.models.delete(model.choice.model, this.#hubOf(model)));
    if (error === null) {
      this.#added = this.#added.filter((choice) => keyOfChoice(choice) !== key);
      this.#options.announce(`${model.title} was deleted.`);
    }
    this.#update(key, error ? { error } : { error, estimate: null });
    await this.refresh();
  }

  /** Switches the engine to a model of the list. Resolves with whether that worked. */
  use(key: string): Promise<boolean> {
    const model = this.#find(key);
    if (!model) return Promise.resolve(false);
    this.#update(key, { error: null });
    return this.#switchTo({ ...model.choice, ...(model.dtype && { dtype: model.dtype }) }, (error) =>
      this.#update(key, { error }),
    );
  }

  /** Switches the engine to a model from files of this computer, which are not copied. */
  useFiles(files: readonly File[]): Promise<boolean> {
    return this.#switchTo({ model: [...files] }, (error) => this.#store.setState({ error }));
  }

  async #lookUp(key: string, onFound?: () => void): Promise<void> {
    await this.estimate(key);
    const model = this.#find(key);
    if (!model?.estimateError || model.stored || model.isDownloading) return onFound?.();
    this.#added = this.#added.filter((choice) => keyOfChoice(choice) !== key);
    this.#store.setState({ error: model.estimateError });
    this.#list();
  }

  async #switchTo(choice: ModelChoice, onError: (error: ChorusErrorData) => void): Promise<boolean> {
    const { engine, announce, onChosen } = this.#options;
    this.#store.setState({ switchingTo: keyOfChoice(choice), error: null });
    const error = await engine.switchTo(choice);
    this.#store.setState({ switchingTo: null });
    if (error === null) {
      onChosen(choice);
      announce(`${labelOfChoice(choice)} runs.`);
    } else if (error !== REPLACED) onError(error);
    // Loading a hub model has stored it.
    await this.refresh();
    return error === null;
  }

  async #download({ key, choice, title }: LibraryModel, signal: AbortSignal): Promise<void> {
    this.#update(key, { isDownloading: true, progress: null, error: null });
    // Newer than the store, which is updated once per frame.
    let newest: DownloadProgress | null = null;
    const show = () => this.#update(key, { progress: newest });
    const onProgress = (progress: DownloadProgress) => {
      newest = progress;
      this.#options.scheduleFlush(show);
    };
    const options = { ...this.#hubOf({ choice }), signal, onProgress };
    const failure = await errorOf(this.#options.models.download(choice.model, options));
    if (failure === null) this.#options.announce(`${title} was downloaded.`);
    this.#downloads.delete(key);
    newest = null;
    await this.refresh();
    this.#update(key, { isDownloading: false, progress: null, error: signal.aborted ? null : failure });
  }

  #hubOf({ choice: { revision, token, hubUrl } }: Pick<ListedModel, "choice">): HubOptions {
    return { revision, token, hubUrl };
  }

  #find(key: string): LibraryModel | undefined {
    return this.#store.getState().models.find((model) => model.key === key);
  }

  #list(): void {
    const works = new Map(this.#store.getState().models.map((model) => [model.key, model]));
    const chosen = this.#options.engine.chosen.getState().model;
    const models = listModels(EMBEDDED, this.#options.models.catalogue, this.#stored, this.#added).map((listed) => {
      const dtype = (keyOfChoice(chosen) === listed.key && chosen.dtype) || null;
      return { ...AT_REST, dtype, ...works.get(listed.key), ...listed };
    });
    this.#store.setState({ models });
  }

  #update(key: string, change: Partial<ModelWork>): void {
    const models = this.#store.getState().models.map((model) => (model.key === key ? { ...model, ...change } : model));
    this.#store.setState({ models });
  }
}

import type { Backend, TuningStore } from "../../backends/backend.ts";
import type { HttpClient } from "../../files/hub/http-client.ts";
import type { ModelStore } from "../../files/store/model-store.ts";

/** A home for an engine: what a host needs of the place where it runs. */
export interface Platform {
  /** In the order in which they are tried. */
  readonly backends: readonly Backend[];
  /** Where measured kernel choices are kept. */
  readonly tuning: TuningStore;
  /** Opens the models that are kept here; null where none can be. */
  openModelStore(http?: HttpClient): Promise<ModelStore | null>;
  /** The clock of all reports, in milliseconds. */
  now(): number;
}

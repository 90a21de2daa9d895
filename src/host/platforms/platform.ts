import type { Backend, TuningStore } from "../../backends/backend.ts";
import type { HttpClient } from "../../files/hub/http-client.ts";
import type { GrammarPort } from "../../grammar/grammar-calls.ts";
import type { TextPort } from "../text/text-calls.ts";
import type { BackendName } from "../../protocol/config.ts";
import type { ModelStore } from "../../files/store/model-store.ts";

/** A backend whose code is loaded when it is first opened. */
export interface OfferedBackend {
  readonly name: BackendName;
  load(): Promise<Backend>;
}

/** A home for an engine: what a host needs of the place where it runs. */
export interface Platform {
  /** In the order in which they are tried. */
  readonly backends: readonly OfferedBackend[];
  /** The reference backend, with which others' answers are compared; null for none. */
  readonly reference: OfferedBackend | null;
  /** The program that compiles and runs kernels, with its version. */
  readonly runtime: string;
  /** Where measured kernel choices and results of comparisons are kept. */
  readonly tuning: TuningStore;
  /** Opens a thread that compiles grammars. Null: they are compiled in place, without limits. */
  readonly openGrammarThread: (() => GrammarPort) | null;
  /** Opens a thread for templates and tokenizers that may take for ever. Null: they run in place. */
  readonly openTextThread: (() => TextPort) | null;
  /** Opens the models that are kept here; null where none can be. */
  openModelStore(http?: HttpClient): Promise<ModelStore | null>;
  /** The clock of all reports, in milliseconds. */
  now(): number;
}

import { ChorusError, toChorusError } from "../protocol/errors.ts";
import { LimitedThread, ThreadEnded, TookTooLong } from "../threads/limited-thread.ts";
import type { GrammarVocabulary } from "./grammar-compiler.ts";
import type { GrammarAnswer, GrammarCall, GrammarPort } from "./grammar-service.ts";

const WHAT = "The grammar thread";

/** A thread that compiles grammars and follows them. It takes the vocabulary at once. */
export class GrammarThread extends LimitedThread<GrammarCall, GrammarAnswer> {
  /** Settles when the vocabulary is there. If it takes too long, the thread is ended, and later calls get the reason. */
  readonly started: Promise<void>;

  constructor(port: GrammarPort, vocabulary: GrammarVocabulary, limitMs: number) {
    super(port, WHAT);
    this.started = this.ask({ type: "start", vocabulary }, limitMs).then(
      () => undefined,
      (error: unknown) => {
        // It ended with the page that started it: the next one may work.
        if (error instanceof ThreadEnded) return;
        const late = `${WHAT} can't be started: it takes too long.`;
        this.end(error instanceof TookTooLong ? new ChorusError("internal_error", late) : toChorusError(error));
      },
    );
  }
}

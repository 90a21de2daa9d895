import type { LogLevel } from "../protocol/config.ts";

const LEVELS: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug"];

/** The one place that writes to the console. Says nothing unless it is asked to. */
export class Logger {
  readonly #level: number;
  readonly #console: Pick<Console, "error" | "warn" | "info" | "debug">;

  constructor(level: LogLevel, target: Pick<Console, "error" | "warn" | "info" | "debug"> = console) {
    this.#level = LEVELS.indexOf(level);
    this.#console = target;
  }

  /** `message` is made only where it is written. */
  write(level: Exclude<LogLevel, "silent">, message: () => string): void {
    if (LEVELS.indexOf(level) <= this.#level) this.#console[level](`chorus: ${message()}`);
  }
}

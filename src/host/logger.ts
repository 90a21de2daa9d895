import { LOG_LEVELS, type LogLevel } from "../protocol/config.ts";

/** The only code that writes to the console. Silent by default. */
export class Logger {
  #level: number;
  readonly #console: Pick<Console, "error" | "warn" | "info" | "debug">;

  constructor(level: LogLevel, target: Pick<Console, "error" | "warn" | "info" | "debug"> = console) {
    this.#level = LOG_LEVELS.indexOf(level);
    this.#console = target;
  }

  setLevel(level: LogLevel): void {
    this.#level = LOG_LEVELS.indexOf(level);
  }

  /** Calls `message` only if it will be written. */
  write(level: Exclude<LogLevel, "silent">, message: () => string): void {
    if (LOG_LEVELS.indexOf(level) <= this.#level) this.#console[level](`chorus: ${message()}`);
  }
}

import type { ChorusError } from "../protocol/errors.ts";
import type { EngineService } from "../protocol/service.ts";

/** An EngineService whose calls may be asynchronous. */
export type AsyncService = {
  [Name in keyof EngineService]: (
    ...args: Parameters<EngineService[Name]>
  ) => ReturnType<EngineService[Name]> | Promise<Awaited<ReturnType<EngineService[Name]>>>;
};

/** A client's connection to an engine, in a worker or in this thread. */
export interface Transport {
  readonly service: AsyncService;
  /** Resolves when the other side died unexpectedly. Never rejects. */
  readonly died: Promise<ChorusError>;
  /** Resolves when the other side answers. Only for another thread, which may get stuck by itself. */
  ping?: () => Promise<unknown>;
  /** Ends the other side. Idempotent. */
  close(): void;
}

import { fromErrorData, type ChorusError } from "../protocol/errors.ts";
import type { EngineService, Result } from "../protocol/service.ts";

/** An EngineService that may be far away: each call may answer later. */
export type AsyncService = {
  [Name in keyof EngineService]: (
    ...args: Parameters<EngineService[Name]>
  ) => ReturnType<EngineService[Name]> | Promise<Awaited<ReturnType<EngineService[Name]>>>;
};

/** How a client reaches an engine, in a worker or in place. */
export interface Transport {
  readonly service: AsyncService;
  /** Resolves when the other side is gone without having said so. Never rejects. */
  readonly died: Promise<ChorusError>;
  /** Ends the other side. Idempotent. */
  close(): void;
}

/** Returns what a service answered. @throws ChorusError where it refused */
export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw fromErrorData(result.error);
  return result.value;
}

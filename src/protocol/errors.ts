// Errors as data. An error crosses the worker boundary as a ChorusErrorData (structured clone keeps no class and no
// extra fields of an Error) and becomes a ChorusError again on the other side.

/** What went wrong, for programs. The first group has OpenAI's names; the others are this engine's own. */
export type ChorusErrorCode =
  // a request or a config field
  | "missing_required_parameter"
  | "unknown_parameter"
  | "unsupported_parameter"
  | "invalid_type"
  | "invalid_value"
  | "context_length_exceeded"
  // capacity
  | "cache_capacity_exceeded"
  | "queue_full"
  // the model's files
  | "model_not_found"
  | "model_download_failed"
  | "model_invalid"
  | "model_unsupported"
  | "model_numerics"
  | "model_access_denied"
  | "model_in_use"
  | "storage_full"
  // a server that answers in an engine's place
  | "server_unreachable"
  | "server_access_denied"
  | "server_refused"
  | "server_failed"
  | "server_answer_invalid"
  // where it runs
  | "webgpu_unavailable"
  | "wasm_unavailable"
  | "kernel_refused"
  | "wrong_answers"
  | "device_lost"
  | "out_of_memory"
  | "worker_died"
  | "engine_disposed"
  | "internal_error";

export interface ChorusErrorData {
  readonly code: ChorusErrorCode;
  /** A sentence for people: what was given and what would be valid. */
  readonly message: string;
  /** Path of the invalid field ("messages[2].content"), or null. */
  readonly param: string | null;
}

/** The one error class of the library. `code` is for programs, `message` for people, `param` names the field. */
export class ChorusError extends Error implements ChorusErrorData {
  override readonly name = "ChorusError";
  readonly code: ChorusErrorCode;
  readonly param: string | null;

  constructor(code: ChorusErrorCode, message: string, param: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.param = param;
  }
}

/** Returns a thrown value itself if it is a ChorusError, else an internal_error with it as the cause. */
export function toChorusError(error: unknown): ChorusError {
  if (error instanceof ChorusError) return error;
  return new ChorusError("internal_error", error instanceof Error ? error.message : String(error), null, {
    cause: error,
  });
}

/** Returns a thrown value as data that can be posted. */
export function toErrorData(error: unknown): ChorusErrorData {
  const { code, message, param } = toChorusError(error);
  return { code, message, param };
}

export function fromErrorData(data: ChorusErrorData): ChorusError {
  return new ChorusError(data.code, data.message, data.param);
}

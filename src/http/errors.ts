import { toChorusError, type ChorusErrorCode } from "../protocol/errors.ts";

/** An error of HTTP alone: a wrong path or method, or a body that is not JSON. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** All other codes are the engine's own fault: 500. */
const STATUS: Partial<Record<ChorusErrorCode, number>> = {
  missing_required_parameter: 400,
  unknown_parameter: 400,
  unsupported_parameter: 400,
  invalid_type: 400,
  invalid_value: 400,
  context_length_exceeded: 400,
  cache_capacity_exceeded: 400,
  model_not_found: 404,
  queue_full: 429,
  device_lost: 503,
  out_of_memory: 503,
  worker_died: 503,
  engine_disposed: 503,
};

/** Seconds. A full queue moves with every request that ends. */
const RETRY_AFTER = "1";

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

interface Described {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** Returns the error's body, for a response or for the middle of a stream. */
export function describeError(error: unknown): Described {
  if (error instanceof HttpError) {
    const { status, headers, message, code } = error;
    return { status, headers, body: { error: { message, type: typeOf(status), param: null, code } } };
  }
  const { code, message, param } = toChorusError(error);
  const status = STATUS[code] ?? 500;
  const headers: Record<string, string> = status === 429 ? { "retry-after": RETRY_AFTER } : {};
  return { status, headers, body: { error: { message, type: typeOf(status), param, code } } };
}

export function errorResponse(error: unknown): Response {
  const { status, headers, body } = describeError(error);
  return Response.json(body, { status, headers });
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

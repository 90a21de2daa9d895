import { answerId } from "../api/answer.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { GenerationRequest } from "../protocol/service.ts";
import type { OpenRequest } from "./open-request.ts";

/** The requests that are not answered yet, and whose ids nobody else may have. */
export class OpenRequests {
  /** Requests that are being tokenized, by ticket: the answer's id, or null where the request names none. */
  readonly #requested = new Map<number, string | null>();
  readonly #byTicket = new Map<number, OpenRequest>();
  readonly #byEngineRequest = new Map<string, OpenRequest>();

  get tickets(): number[] {
    return [...this.#requested.keys(), ...this.#byTicket.keys()];
  }

  /**
   * Takes a request that is not tokens yet. Its id is its own from now on: of two that are asked in one turn, the second is
   * refused, however soon the first is answered.
   * @throws ChorusError invalid_value for an id that another one has
   */
  ask(ticket: number, { endpoint, body }: GenerationRequest): void {
    const named: unknown = (body as Partial<typeof body> | null)?.request_id;
    const id = typeof named === "string" ? answerId(endpoint, named) : null;
    if (id !== null && ([...this.#requested.values()].includes(id) || this.#byEngineRequest.has(id)))
      throw isOpen(named);
    this.#requested.set(ticket, id);
  }

  /** Ends that a request is being tokenized. Returns whether it was: it may have been given up. */
  endRequested(ticket: number): boolean {
    return this.#requested.delete(ticket);
  }

  /** @throws ChorusError invalid_value for an id that another one has: a request with several prompts has several */
  checkIds({ engineRequestIds, parsed }: OpenRequest): void {
    if (engineRequestIds.some((id) => this.#byEngineRequest.has(id))) throw isOpen(parsed.requestId);
  }

  add(open: OpenRequest): void {
    this.#byTicket.set(open.ticket, open);
    for (const id of open.engineRequestIds) this.#byEngineRequest.set(id, open);
  }

  has(open: OpenRequest): boolean {
    return this.#byTicket.get(open.ticket) === open;
  }

  withTicket(ticket: number): OpenRequest | undefined {
    return this.#byTicket.get(ticket);
  }

  ofEngineRequest(id: string): OpenRequest | undefined {
    return this.#byEngineRequest.get(id);
  }

  delete(open: OpenRequest): void {
    this.#byTicket.delete(open.ticket);
    for (const id of open.engineRequestIds) this.#byEngineRequest.delete(id);
  }

  clear(): void {
    this.#requested.clear();
    this.#byTicket.clear();
    this.#byEngineRequest.clear();
  }
}

function isOpen(id: unknown): ChorusError {
  const message = `request_id ${JSON.stringify(id)} belongs to a request that is still open.`;
  return new ChorusError("invalid_value", message, "request_id");
}

import { createStore, type ReadonlyStore } from "../store.ts";

/** A page and its parameters, from the hash: "#/bench?quick" is page "bench" with "quick"; no hash is page "". */
export interface Route {
  readonly page: string;
  readonly params: URLSearchParams;
}

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { page: path, params: new URLSearchParams(query) };
}

/** Follows the address. Links navigate: `<a href="#/bench">`, and `<a href="#/">` for the chats. */
export function followAddress(): ReadonlyStore<Route> {
  const store = createStore<Route>(() => readRoute(location.hash));
  addEventListener("hashchange", () => store.setState(readRoute(location.hash), true));
  return store;
}

import { createStore, type ReadonlyStore } from "../store.ts";

/** Where the page is, by its hash: "#/bench?quick" is page "bench" with the parameter "quick"; no hash is page "". */
interface Route {
  readonly page: string;
  readonly params: URLSearchParams;
}

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { page: path, params: new URLSearchParams(query) };
}

/** Follows the address. To go somewhere is to follow a link: `<a href="#/bench">`, and `<a href="#/">` to the chats. */
export class Router {
  readonly store: ReadonlyStore<Route>;

  constructor() {
    const store = createStore<Route>(() => readRoute(location.hash));
    addEventListener("hashchange", () => store.setState(readRoute(location.hash), true));
    this.store = store;
  }
}

// Forwards requests for v1/* to the page that has the engine. Each request has a channel of its own, so that none gets another
// one's answer. Pages of other origins don't reach a service worker; a form could navigate to it, so navigations are the host's.

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

const root = new URL("v1/", registration.scope).href;
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.url.startsWith(root) && request.mode !== "navigate") event.respondWith(askPage(request));
});

async function askPage(request) {
  const { method, signal } = request;
  const body = method === "POST" ? await request.arrayBuffer() : null;
  const pages = await clients.matchAll({ type: "window" });
  const page = pages.find(({ url }) => /\/(?:index\.html)?$/.test(new URL(url).pathname));
  if (page === undefined) {
    const message = "The page that has the engine is not open.";
    return Response.json({ error: { message, code: "no_page" } }, { status: 503 });
  }

  const { port1: port, port2 } = new MessageChannel();
  const url = `http://chorus/v1/${request.url.slice(root.length)}`;
  page.postMessage(null, [port2]);
  const leave = () => port.postMessage("leave");
  signal.addEventListener("abort", leave);
  return new Promise((resolve, reject) => {
    let stream = null;
    let numHeard = 0;
    const fail = (message) => {
      leave();
      port.close();
      if (stream) stream.error(new TypeError(message));
      else reject(new TypeError(message));
    };
    const unreadable = "The answer could not be read.";
    port.addEventListener("message", ({ data }) => {
      const { number, head, bytes, error } = data ?? { error: unreadable }; // null: as Chromium says it
      if (number < numHeard) return; // it came twice
      numHeard = number + 1;
      if (head)
        resolve(new Response(new ReadableStream({ start: (opened) => (stream = opened), cancel: leave }), head));
      else if (bytes) stream.enqueue(bytes);
      else if (error) fail(error);
      else stream.close();
    });
    port.addEventListener("messageerror", () => fail(unreadable));
    port.addEventListener("close", () => fail("The page that has the engine was closed."));
    port.start();
    port.postMessage({ url, method, headers: [...request.headers], body });
  });
}

type Events = DocumentEventMap & WindowEventMap;
type Listeners = { readonly [Type in keyof Events]?: (event: Events[Type]) => void };

/** Listens to events of a target by their types. Returns the function that ends it. */
export function listen(target: EventTarget, listeners: Listeners, options: AddEventListenerOptions = {}): () => void {
  const until = new AbortController();
  for (const [type, listener] of Object.entries(listeners)) {
    target.addEventListener(type, listener as EventListener, { ...options, signal: until.signal });
  }
  return () => until.abort();
}

/** Calls back with an element's first layout, and when its size has changed. Returns the function that ends it. */
export function onResize(element: Element, call: () => void): () => void {
  const observer = new ResizeObserver(call);
  observer.observe(element);
  return () => observer.disconnect();
}

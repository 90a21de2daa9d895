// The driver opens this page. Its worker computes everything, undisturbed by drawing.

const worker = new Worker(new URL("./page.worker.ts", import.meta.url), { type: "module" });
worker.postMessage(location.search);

// The driver opens this page. All is computed in its worker, where no page is drawn.

const worker = new Worker(new URL("./page.worker.ts", import.meta.url), { type: "module" });
worker.postMessage(location.search);

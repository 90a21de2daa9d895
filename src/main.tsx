import { createEngine } from "./index.ts";
import { readPageOptions } from "./state/page-options.ts";
import { startApp } from "./ui/start-app.ts";

const root = document.getElementById("root");
if (root) startApp({ root, createEngine, ...readPageOptions(location.search) });

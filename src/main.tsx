import { createEngine } from "./client/create-engine.ts";
import { readPageOptions } from "./state/page-options.ts";
import { startApp } from "./ui/StartApp.tsx";

const root = document.getElementById("root");
if (root) startApp({ root, createEngine, ...readPageOptions(location.search) });

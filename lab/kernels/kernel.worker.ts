// The kernel lab's worker: runs an engine in place and listens to its WebGPU calls.

import * as Comlink from "comlink";

import { KernelLab } from "./kernel-lab.ts";

Comlink.expose(new KernelLab());

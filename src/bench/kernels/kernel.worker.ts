// The kernel lab's worker: an engine in place, whose calls to WebGPU are listened to.

import * as Comlink from "comlink";

import { KernelLab } from "./kernel-lab.ts";

Comlink.expose(new KernelLab());

// The kernel lab's worker: runs an engine in its own thread and listens to its WebGPU calls.

import * as Comlink from "comlink";

import { announced } from "../../src/protocol/announced-endpoint.ts";
import { KernelLab } from "./kernel-lab.ts";

Comlink.expose(new KernelLab(), announced(self as unknown as Worker));

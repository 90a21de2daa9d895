// The kernel lab's worker: runs an engine in its own thread and listens to its WebGPU calls.

import * as Comlink from "comlink";

import { announced } from "../../src/protocol/announced-endpoint.ts";
import { measureKernels } from "./kernel-lab.ts";
import type { MeasureKernels } from "./measure-in-worker.ts";

const measure: MeasureKernels = (...given) => measureKernels(navigator.gpu, ...given);
Comlink.expose(measure, announced(self as unknown as Worker));

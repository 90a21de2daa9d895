// The kernel lab's worker: runs an engine in its own thread and listens to its WebGPU calls.

import { connect } from "../../src/protocol/connection.ts";
import { measureKernels } from "./kernel-lab.ts";
import type { MeasureKernels } from "./measure-in-worker.ts";

const measure: MeasureKernels = (...given) => measureKernels(navigator.gpu, ...given);
connect(self as unknown as Worker, { measure });

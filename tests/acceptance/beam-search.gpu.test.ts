// Beams are above the backends: most is tested on the CPU, by backends/cpu/beam-search.test.ts. A software GPU is slow.

import { loadGolden } from "../models/golden.ts";
import { withCommonDevice } from "../gpu/one-device.ts";
import { BEAM_CONFIG, beamRunsOf, itFindsRuns } from "../requests/beam-search.ts";

const { prompts } = await loadGolden("gpt2-tiny");
const runs = beamRunsOf(prompts).filter((_, i) => i % 5 === 0);
const model = "/tests/fixtures/gpt2-tiny/";
const onGpu = { backend: "webgpu", worker: false, gpu: await withCommonDevice(), model } as const;

itFindsRuns(runs, { ...onGpu, ...BEAM_CONFIG }, 1);

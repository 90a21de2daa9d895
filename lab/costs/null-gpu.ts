import { BufferUsage } from "../../src/backends/gpu/flags.ts";

/** The embedded model has 4,096. */
const MAX_TOKENS = 3000;

/** Calls since it was made, by name. */
type CallCounts = Record<string, number>;

/** Returns a WebGPU that computes nothing: the rest of a step is our own JavaScript. Its tokens are arbitrary. */
export function nullGpu(): { gpu: GPU; calls: CallCounts } {
  const calls: CallCounts = {};
  const count = (name: string) => () => void (calls[name] = (calls[name] ?? 0) + 1);
  const nothing = () => undefined;
  const object = () => ({ destroy: nothing, getCompilationInfo: () => Promise.resolve({ messages: [] }) });
  const later = () => Promise.resolve({});
  const pass = {
    setPipeline: count("setPipeline"),
    setBindGroup: count("setBindGroup"),
    dispatchWorkgroups: count("dispatchWorkgroups"),
    end: nothing,
  };
  const encoder = {
    beginComputePass: () => pass,
    copyBufferToBuffer: count("copyBufferToBuffer"),
    resolveQuerySet: count("resolveQuerySet"),
    finish: object,
  };
  const queue = { submit: count("submit"), writeBuffer: count("writeBuffer"), onSubmittedWorkDone: later };
  const features = new Set(["timestamp-query", "subgroups"]);
  const limits = { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 31 };
  const device = {
    features,
    limits,
    queue,
    lost: new Promise(() => undefined),
    addEventListener: nothing,
    destroy: nothing,
    pushErrorScope: nothing,
    popErrorScope: () => Promise.resolve(null),
    createBuffer: (descriptor: GPUBufferDescriptor) => nullBuffer(descriptor, count("mapAsync")),
    createBindGroup: object,
    createBindGroupLayout: object,
    createPipelineLayout: object,
    createShaderModule: object,
    createComputePipelineAsync: later,
    createQuerySet: object,
    createCommandEncoder: () => encoder,
  };
  const adapter = {
    features,
    limits,
    // The kernels of software adapters, as in the benchmark's browser.
    info: { description: "null", vendor: "", architecture: "swiftshader", device: "", subgroupMinSize: 4 },
    requestDevice: () => Promise.resolve(device),
  };
  return { gpu: { requestAdapter: () => Promise.resolve(adapter) } as unknown as GPU, calls };
}

/** Returns a buffer, which has memory only if it is read. */
function nullBuffer({ size, usage }: GPUBufferDescriptor, onMap: () => void) {
  const isRead = (usage & BufferUsage.MAP_READ) !== 0;
  const bytes = new ArrayBuffer(isRead ? size : 0);
  const words = new Uint32Array(bytes);
  const floats = new Float32Array(bytes);
  for (let i = 0; i < words.length; i++) {
    if (i % 2 === 0) words[i] = 300 + ((i * 37) % MAX_TOKENS);
    else floats[i] = -1;
  }
  return {
    size,
    mapAsync() {
      onMap();
      return new Promise<void>((resolve) => setImmediate(resolve)); // a turn of the event loop, as in a browser
    },
    // Mapped at creation, for weights; a step's range is the buffer's.
    getMappedRange: (_offset = 0, length = size) => (isRead ? bytes : new ArrayBuffer(length)),
    unmap: () => undefined,
    destroy: () => undefined,
  };
}

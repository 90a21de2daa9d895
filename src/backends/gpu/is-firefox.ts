/** Returns whether this is Firefox. Some of what its WebGPU does differently nothing shows but its name. */
export const isFirefox = (): boolean => globalThis.navigator?.userAgent.includes("Firefox/") ?? false;

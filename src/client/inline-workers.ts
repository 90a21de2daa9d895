/**
 * All of the library's workers in one script, compressed, in base64. The library's build writes it (tools/plugins/worker-files-plugin.ts).
 * The app does not need it: its build keeps their files.
 */
export const packedWorkers: string | null = null;

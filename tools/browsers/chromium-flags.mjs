// The flags of every Chromium we start: tests, end-to-end tests, pictures. Playwright adds its own that keep it quiet.

/**
 * "software" is Chromium's own SwiftShader, which is there on every machine and gives the same figures on each;
 * "real" is the machine's GPU.
 *
 * @typedef {"software" | "real"} Adapter
 */

/** @type {Adapter} The value of CHORUS_ADAPTER. By default tests run on the software adapter. */
export const adapter = process.env.CHORUS_ADAPTER === "real" ? "real" : "software";

const adapterFlags = {
  software: ["--use-webgpu-adapter=swiftshader"],
  // Chromium on Linux reaches a GPU through Vulkan, which it keeps off by default; without a display it needs no surface.
  real:
    process.platform === "linux"
      ? ["--ignore-gpu-blocklist", "--enable-features=Vulkan", "--use-angle=vulkan", "--disable-vulkan-surface"]
      : [],
};

export function chromiumFlags(/** @type {Adapter} */ on = adapter) {
  // Without --no-sandbox Chromium refuses to start as root, as in most containers.
  return ["--no-sandbox", "--enable-unsafe-webgpu", ...adapterFlags[on]];
}

/**
 * Features that tests disable on a machine without a GPU. SwiftShader writes out the zeros of each word of workgroup memory, which
 * makes a kernel with 16 KiB of it compile for two seconds instead of 0.2. No kernel may count on the zeros: here the memory
 * keeps what it held before. Drawing the page is quicker without a GPU that computes on the CPU.
 */
const withoutGpu = [
  "--enable-dawn-features=disable_workgroup_init",
  "--disable-gpu-rasterization",
  "--disable-gpu-compositing",
];

/**
 * Features that tests disable. The address bar's two pop-ups are pages of their own, which nobody sees here: Chromium opens them
 * with each context, and they take half of the processor time of opening a page. The last list that is given counts, so what
 * Playwright disables for the sake of tests is named again.
 */
const DISABLED_FEATURES = [
  "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
  "PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,TcpPortRandomizationWin",
  "LensOverlay,MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch",
].join(",");

export function testFlags(/** @type {Adapter} */ on = adapter) {
  return [...chromiumFlags(on), ...(on === "software" ? withoutGpu : []), `--disable-features=${DISABLED_FEATURES}`];
}

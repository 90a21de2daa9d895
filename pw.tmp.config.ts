import base from "./playwright.config.ts";
export default { ...base, timeout: 45_000, expect: { timeout: 8_000 }, workers: 2 };

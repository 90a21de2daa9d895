/** The version in package.json, which a test holds it to: code that is built apart from the app can't import that file. */
export const VERSION = "0.1.0";

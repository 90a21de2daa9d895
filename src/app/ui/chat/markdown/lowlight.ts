// Of lowlight this alone: its index has all languages.
export { createLowlight } from "lowlight";

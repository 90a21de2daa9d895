// Reads the arguments of every command of the project: --help, the nearest right name for a wrong one,
// and a sentence, never a stack trace, for what can't be. commander does it; the packages are installed first.

import "./require-node.mjs";

import { setUp } from "./setup.mjs";

/**
 * An option: how it is written, what it does, and what it may be. `choices`: one of them; `items`: some of them, with commas
 * between; `counts`: whole numbers above 0, one or several; `amount`: a number above 0, which may be "inf" where it is
 * "endless"; `isAddress`: a server's address.
 *
 * @typedef {{
 *   flags: string,
 *   about: string,
 *   defaultText?: string,
 *   choices?: readonly string[],
 *   items?: readonly string[],
 *   counts?: "one" | "several",
 *   amount?: "finite" | "endless",
 *   isAddress?: boolean,
 * }} CommandOption
 */

const AMOUNTS = { finite: "Give a number above 0.", endless: "Give a number above 0, or inf." };
const COUNTS = { one: "a whole number", several: "whole numbers, with commas between, each" };

/** Returns a command without options. @param {string} name as a person types it @param {string} about in a sentence or more */
export async function openCommand(name, about) {
  await setUp();
  const { Command } = await import("commander");
  return new Command(name)
    .usage("[options]")
    .description(about)
    .helpOption("--help", "this text")
    .helpCommand(false)
    .showHelpAfterError("--help shows what there is.")
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: (.)/, (_, first) => first.toUpperCase())),
    });
}

/** Adds options to a command, and returns it. */
export async function addOptions(
  /** @type {import("commander").Command} */ command,
  /** @type {readonly CommandOption[]} */ options,
) {
  const { Option, InvalidArgumentError } = await import("commander");
  for (const { flags, about, defaultText, choices, items, counts, amount, isAddress } of options) {
    const option = new Option(flags, defaultText === undefined ? about : `${about} [${defaultText}]`);
    if (choices) option.choices(choices);
    const check = (/** @type {(part: string) => boolean} */ isRight, /** @type {string} */ otherwise) =>
      option.argParser((text) => {
        const parts = items || counts === "several" ? text.split(",") : [text];
        if (!parts.every(isRight)) throw new InvalidArgumentError(otherwise);
        return text;
      });
    if (items) check((part) => items.includes(part), `Allowed are ${items.join(", ")}, with commas between.`);
    if (counts) check((part) => /^[1-9]\d*$/.test(part), `Give ${COUNTS[counts]} above 0.`);
    if (amount) check((text) => isAmount(text) || (amount === "endless" && text === "inf"), AMOUNTS[amount]);
    if (isAddress) check(isHttp, "Give an address such as http://127.0.0.1:8000.");
    command.addOption(option);
  }
  return command;
}

function isAmount(/** @type {string} */ text) {
  return Number(text) > 0 && Number.isFinite(Number(text));
}

function isHttp(/** @type {string} */ text) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

// The demo's view on the terminal: redrawn in place if possible, else printed line by line.

/**
 * @typedef {{ answers: { text: string, end: string }[], figures: Record<string, string> }} Snapshot
 * @typedef {{ show: (snapshot: Snapshot) => void }} DemoView
 * @typedef {{ isTTY?: boolean, columns?: number, write: (text: string) => unknown }} Output
 */

const LINES_PER_ANSWER = 5;
const LINE_WIDTH = 72;
const FIGURES_EVERY_MS = 2000;

/**
 * @param {readonly string[]} questions one a pane
 * @param {Output} [output]
 * @returns {DemoView}
 */
export function createDemoView(questions, output = process.stdout) {
  return output.isTTY ? createScreen(questions, output) : createLines(questions, output);
}

/** @type {(questions: readonly string[], output: Output) => DemoView} */
function createScreen(questions, output) {
  let linesUp = 0;
  return {
    show({ answers, figures }) {
      const width = Math.min(output.columns || 80, 120) - 1;
      const lines = questions.flatMap((question, index) => {
        const { text = "", end = "" } = answers[index] ?? {};
        const newest = wrap(text, width - 3).slice(-LINES_PER_ANSWER);
        const blank = Array.from({ length: LINES_PER_ANSWER - newest.length }, () => "");
        return [
          `\x1b[1m${index + 1}  ${question}\x1b[0m  \x1b[2m${end}\x1b[0m`,
          ...newest.map((line) => `   ${line}`),
          ...blank,
        ];
      });
      lines.push(`\x1b[7m ${describe(figures).slice(0, width - 2)} \x1b[0m`);
      output.write(`${linesUp ? `\x1b[${linesUp}A` : ""}\x1b[0J${lines.join("\n")}\n`);
      linesUp = lines.length;
    },
  };
}

/** @type {(questions: readonly string[], output: Output) => DemoView} */
function createLines(questions, output) {
  const panes = questions.map((question, index) => {
    output.write(`Pane ${index + 1} > ${question}\n`);
    return { wordsShown: 0, ended: false };
  });
  let figuresAtMs = -Infinity;
  return {
    show({ answers, figures }) {
      for (const [index, pane] of panes.entries()) {
        const { text = "", end = "" } = answers[index] ?? {};
        const lines = wrap(text.trim().split(/\s+/).slice(pane.wordsShown).join(" "), LINE_WIDTH);
        // The last line may still grow.
        const whole = end ? lines : lines.slice(0, -1);
        for (const line of whole) {
          output.write(`Pane ${index + 1} | ${line}\n`);
          pane.wordsShown += line.split(" ").length;
        }
        if (end && !pane.ended) output.write(`Pane ${index + 1} | (${end})\n`);
        pane.ended = end !== "";
      }
      if (Date.now() - figuresAtMs < FIGURES_EVERY_MS) return;
      figuresAtMs = Date.now();
      output.write(`Batch  | ${describe(figures)}\n`);
    },
  };
}

/** @returns {string} */
function describe(/** @type {Snapshot["figures"]} */ figures) {
  return Object.entries(figures)
    .map(([label, value]) => `${label} ${value}`)
    .join(" · ");
}

/**
 * Lines of at most `width` characters, broken between words; a word that is longer stands alone.
 *
 * @returns {string[]}
 */
export function wrap(/** @type {string} */ text, /** @type {number} */ width) {
  return text.split("\n").flatMap((paragraph) => {
    const lines = [];
    let line = "";
    for (const word of paragraph.split(" ").filter((part) => part !== "")) {
      if (line && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      line = line ? `${line} ${word}` : word;
    }
    return line ? [...lines, line] : lines;
  });
}

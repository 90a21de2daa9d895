import { describe, expect, test } from "vitest";
import { calculate } from "./calculator.ts";

test.each([
  ["17 * 23", "391"],
  ["0.1 + 0.2", "0.3"],
  ["2 + 3 * 4 - 10 / 4", "11.5"],
  ["(2 + 3) * -4", "-20"],
  ["-2^2", "-4"],
  ["2^-2", "0.25"],
  ["2^3^2", "512"],
  ["2 ** 100", "1267650600228229401496703205376"],
  ["(-1)^1000000001", "-1"],
  ["0^0", "1"],
  ["-7 % 3", "2"],
  ["7.5 % 2", "1.5"],
  ["1/3", "1/3, about 0.33333333333333333333"],
  ["-200/3", "-200/3, about -66.66666666666666666666"],
  ["6 ÷ 4 × 2 − .5", "2.5"],
  ["99999999999999999999 + 1", "100000000000000000000"],
])("%s is %s, exactly", (expression, value) => {
  expect(calculate(expression)).toBe(value);
});

describe("what can't be computed is refused, with its place", () => {
  test.each([
    ["", "The expression ends too early."],
    ["2 +", "The expression ends too early."],
    ["2 3", '"3" can\'t stand after "2".'],
    ["(1 + 2", "The expression ends too early."],
    ["1 + alert(1)", '"a" can\'t stand after "1 +".'],
    ["-----066. -- ", "The expression ends too early."],
    ["1 / (2 - 2)", "Division by zero."],
    ["5 % 0", "Division by zero."],
    ["0 ^ -1", "Division by zero."],
    ["2 ^ 0.5", "An exponent must be a whole number."],
    ["10 ^ 1000", "The result has more than 1000 digits."],
    ["9^9^9^9", "The result has more than 1000 digits."],
    ["(1/7) ^ 99999999999999999999", "The result has more than 1000 digits."],
    ["1".repeat(501), "The expression has more than 500 characters."],
  ])("%s", (expression, message) => {
    expect(() => calculate(expression)).toThrow(message);
  });

  test("parentheses as deep as an expression can be", () => {
    expect(calculate(`${"(".repeat(249)}7${")".repeat(249)}`)).toBe("7");
    expect(() => calculate("(".repeat(500))).toThrow("ends too early");
  });
});

import { describe, expect, it } from "vitest";
import { leaveOutOldest, messagesFrom, type Turn } from "./conversation.ts";

const turn = (id: number, answer: string): Turn => ({ id, question: `q${id}`, answer, end: answer ? "stop" : null });

describe("messagesFrom", () => {
  it("alternates questions and answers and ends with the newest question", () => {
    expect(messagesFrom([turn(0, "a0"), turn(1, "")], 0)).toEqual([
      { role: "user", content: "q0" },
      { role: "assistant", content: "a0" },
      { role: "user", content: "q1" },
    ]);
  });

  it("leaves out the turns before contextStart and those without an answer", () => {
    const turns = [turn(0, "a0"), turn(1, ""), turn(2, "a2"), turn(3, "")];
    expect(messagesFrom(turns, 1).map((message) => message.content)).toEqual(["q2", "a2", "q3"]);
  });
});

describe("leaveOutOldest", () => {
  const turns = [turn(0, "a0"), turn(1, ""), turn(2, "a2"), turn(3, "")];

  it("passes over a turn that was not sent anyway", () => {
    expect(leaveOutOldest(turns, 0)).toBe(1);
    expect(leaveOutOldest(turns, 1)).toBe(3);
  });

  it("never leaves out the newest question", () => {
    expect(leaveOutOldest(turns, 3)).toBeNull();
  });
});

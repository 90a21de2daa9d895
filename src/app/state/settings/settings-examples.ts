import type { SettingName } from "./settings.ts";

/** What "Insert example" inserts. */
export const SETTINGS_EXAMPLES: Readonly<Partial<Record<SettingName, string>>> = {
  answer_schema: JSON.stringify(
    {
      type: "object",
      properties: { answer: { type: "string", maxLength: 80 }, mood: { enum: ["glad", "sad", "curious"] } },
      required: ["answer", "mood"],
      additionalProperties: false,
    },
    null,
    2,
  ),
  own_tools: JSON.stringify(
    [
      {
        type: "function",
        function: {
          name: "weather",
          description: "Tells the weather in a city.",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
      },
    ],
    null,
    2,
  ),
};

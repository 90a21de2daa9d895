import { expect, it } from "vitest";
import { withoutAddresses } from "./without-addresses.ts";

it.each([
  [
    "Downloading https://huggingface.co/me/x/resolve/main/config.json failed: Failed to fetch. Check the connection.",
    "Downloading config.json at huggingface.co failed: Failed to fetch. Check the connection.",
  ],
  [
    "Downloading https://huggingface.co/api/models/me/x/revision/main?blobs=true failed: Failed to fetch.",
    "Downloading the list of files at huggingface.co failed: Failed to fetch.",
  ],
  ["There is no http://127.0.0.1:8080/models/x/ (404).", "There is no 127.0.0.1:8080/models/x/ (404)."],
  ["There is no https://a.example/x/100%.json here.", "There is no 100%.json at a.example here."],
  [
    "There is no config.json in http://127.0.0.1:8080/models/x/.",
    "There is no config.json in 127.0.0.1:8080/models/x/.",
  ],
  ["Look at https://huggingface.co.", "Look at huggingface.co."],
  ["There is no config.json in the file you chose.", "There is no config.json in the file you chose."],
])("%s", (message, plain) => expect(withoutAddresses(message)).toBe(plain));

it.each([
  '"https://huggingface.co/a/b/tree/main/onnx" is inside a model. Give "https://huggingface.co/a/b/resolve/main/onnx/".',
  '"https://huggingface.co/spaces/a/b" is an address of the hub, but no model\'s.',
])("keeps quoted addresses, which a person gave or can give: %s", (message) =>
  expect(withoutAddresses(message)).toBe(message),
);

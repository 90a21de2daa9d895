import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Connections } from "../../state/connections/connections.ts";
import { AddConnection } from "./Connections.tsx";

it("wants a key where one is changed, and none where a server is added", () => {
  const observer = { sent() {}, received() {}, retrying() {}, ended() {} };
  const connections = new Connections({ observer });
  const known = connections.find(connections.add("host.example", "secret", true)) ?? undefined;
  const keyField = (form: React.ReactElement) => /<input type="password"[^>]*>/.exec(renderToStaticMarkup(form))?.[0];
  const changed = keyField(<AddConnection connections={connections} {...(known && { known })} />);
  expect(changed).toContain('aria-label="Key of host.example"');
  expect(changed).toContain("required");
  expect(changed).not.toContain("secret");
  expect(keyField(<AddConnection connections={connections} />)).not.toContain("required");
});

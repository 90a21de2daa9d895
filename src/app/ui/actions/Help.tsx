import { useStore } from "zustand";
import { COMMAND_GROUPS, type Command } from "../../state/commands/commands.ts";
import { usePage } from "../app/page-context.ts";
import { DocsLink } from "../components/DocsLink.tsx";
import { Keys } from "./Keys.tsx";

/** Keys of the message box, which are not commands. */
const BOX_KEYS = [
  { title: "Send the message", keys: "Enter" },
  { title: "New line", keys: "Shift+Enter" },
];

/** Says what Chorus is, leads to the documents, and lists all shortcuts. */
export function Help({ commands }: { commands: readonly Command[] }) {
  const { singleKeys } = usePage();
  const hasSingleKeys = useStore(singleKeys.store) === "on";
  return (
    <>
      <p>
        Chorus runs language models in your browser. All chats share one model: each step computes the next token of
        every answer at once. What you write stays here, unless you connect a server.
      </p>
      <nav className="row mb-4 flex-wrap gap-x-4 gap-y-0 leading-9" aria-label="Documents">
        <DocsLink page="README">Documents</DocsLink>
        <DocsLink page="app">The app</DocsLink>
        <DocsLink page="how-it-works">How it works</DocsLink>
        <DocsLink page="tuning">Tuning</DocsLink>
        <DocsLink page="troubleshooting">Troubleshooting</DocsLink>
        <DocsLink page="library">Library</DocsLink>
      </nav>
      <div className="stack">
        <Group name="Writing" rows={BOX_KEYS} />
        {COMMAND_GROUPS.map((group) => (
          <Group key={group} name={group} rows={commands.filter((command) => command.group === group)} />
        ))}
      </div>
      <label className="row section mt-4 min-h-9 text-ink-2">
        <input type="checkbox" checked={hasSingleKeys} onChange={singleKeys.next} />
        Single-key shortcuts, such as <Keys keys="?" />
      </label>
    </>
  );
}

function Group({ name, rows }: { name: string; rows: readonly { title: string; keys?: string }[] }) {
  const withKeys = rows.filter((row) => row.keys !== undefined);
  if (withKeys.length === 0) return null;
  return (
    <section>
      <h3 className="small pb-1">{name}</h3>
      <dl>
        {withKeys.map(({ title, keys = "" }) => (
          <div key={title} className="row min-h-8 justify-between gap-3 border-t border-line">
            <dt>{title}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

import type { SiteApi } from "../../state/app/site-api.ts";
import { useStore } from "../use-store.ts";
import css from "./AppSettings.module.css";

/** Offers this tab's engine to all pages of the site. */
export function SiteApiSwitch({ api }: { api: SiteApi }) {
  const { url, isOn } = useStore(api.store, (state) => state);
  if (url === null) return null;
  return (
    <section className={css.files} aria-label="API for this site">
      <h3>API for this site</h3>
      <label className={css.switch}>
        <input
          type="checkbox"
          checked={isOn}
          aria-describedby="site-api-help"
          onChange={(event) => void api.turn(event.target.checked)}
        />
        Answer OpenAI&rsquo;s API
      </label>
      <p id="site-api-help" className={css.hint}>
        Pages of this site, and the browser&rsquo;s console on them, can then ask the model of this tab at{" "}
        <code>{url}</code>, such as <code>{url}/chat/completions</code>. Other sites can&rsquo;t. It works while a tab
        of Chorus is open.
      </p>
    </section>
  );
}

/** The page that searches the others. Without scripts it says so. */
export const SEARCH_BODY = `<h1>Search</h1>
<search><input type="search" aria-label="Search the documents" autofocus spellcheck="false" autocapitalize="off" /></search>
<p role="status">The search needs JavaScript.</p>
<ol id="found"></ol>
<script type="module" src="look/search.js"></script>`;

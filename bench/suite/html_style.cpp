#include "bench/suite/html_parts.h"

namespace lumen::bench {

const char* const kPageStyle = R"CSS(
:root { color-scheme: light dark; --back: #fcfcfa; --card: #fff; --ink: #1d2530; --soft: #68727f; --line: #dfe3e8;
  --good: #14804a; --bad: #c02b2b; }
@media (prefers-color-scheme: dark) { :root { --back: #14181d; --card: #1c2229; --ink: #e4e8ec; --soft: #97a1ad;
  --line: #323a44; --good: #4cc38a; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 28px 24px 60px; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 2px; letter-spacing: -0.01em; }
h2 { font-size: 17px; margin: 34px 0 10px; }
p, .soft { color: var(--soft); margin: 0; }
.cards { display: flex; flex-wrap: wrap; gap: 12px; margin-top: 20px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 10px 16px; }
.card b { display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 13px; }
.plot { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--soft); } svg .grid { stroke: var(--line); } svg .limit { stroke: var(--ink); stroke-width: 1.5; }
svg circle { fill-opacity: 0.8; stroke: var(--card); } svg circle:hover { fill-opacity: 1; stroke: var(--ink); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 4px 0; font-size: 13px; color: var(--soft); }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 5px; margin-right: 6px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th { cursor: pointer; color: var(--soft); font-weight: 500; position: sticky; top: 0; background: var(--back); }
th:hover { color: var(--ink); } th.up::after { content: " ↑"; } th.down::after { content: " ↓"; }
td, th { text-align: right; padding: 4px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
td:first-child, th:first-child { text-align: left; }
td.problem { color: var(--bad); text-align: left; white-space: normal; }
.slower { color: var(--bad); font-weight: 600; } .faster { color: var(--good); font-weight: 600; }
)CSS";

// Cells carry their value in data-v; a second click turns the order round.
const char* const kPageScript = R"JS(
for (const th of document.querySelectorAll("th")) th.addEventListener("click", () => {
  const down = !th.classList.contains("down");
  const body = th.closest("table").tBodies[0], column = th.cellIndex;
  for (const other of th.parentNode.cells) other.className = "";
  th.className = down ? "down" : "up";
  const value = row => { const c = row.cells[column]; return c && c.dataset.v !== undefined ? +c.dataset.v : NaN; };
  const text = row => row.cells[0].textContent;
  const order = (a, b) => column === 0 ? text(b).localeCompare(text(a)) : (value(b) || 0) - (value(a) || 0);
  [...body.rows].sort((a, b) => down ? order(a, b) : order(b, a)).forEach(row => body.append(row));
});
)JS";

}  // namespace lumen::bench

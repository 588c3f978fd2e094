#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainStyle = R"css(
:root { --line: #d5dae1; --text: #1d2430; --soft: #5d6675; --select: #1864ab; --hit: #ffe066; --good: #2b8a3e;
  --bad: #c92a2a; --back: #f6f7f9; --accent: #3b5bdb; }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; color: var(--text); background: #fff;
  font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
code, .mono { font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
header { display: flex; gap: 8px; align-items: center; padding: 8px 14px; border-bottom: 1px solid var(--line); }
header h1 { font-size: 15px; margin: 0 8px 0 0; max-width: 250px; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
button, select, input { font: inherit; color: inherit; border: 1px solid var(--line); background: #fff;
  border-radius: 5px;  padding: 3px 10px; }
button { cursor: pointer; }
button:hover { background: var(--back); }
button.on, button.on:hover { background: var(--text); border-color: var(--text); color: #fff; }
select { max-width: 190px; }
#part { max-width: 260px; }
#search { width: 170px; }
#found { color: var(--soft); min-width: 62px; }
#space { flex: 1; }
main { flex: 1; min-height: 0; display: flex; }
section { flex: 1; min-width: 0; display: none; }
section.on { display: flex; }
.scroll { flex: 1; min-width: 0; overflow: auto; padding: 14px 18px; }
aside { width: 380px; flex: none; border-left: 1px solid var(--line); padding: 12px 16px; overflow: auto; }
h2 { font-size: 15px; margin: 0 0 8px; overflow-wrap: anywhere; }
h3 { font-size: 12px; margin: 16px 0 6px; color: var(--soft); font-weight: 600; text-transform: uppercase;
  letter-spacing: 0.03em; }
details { margin: 8px 0; }
summary { cursor: pointer; color: var(--soft); }
p { margin: 4px 0 10px; }
.soft { color: var(--soft); }
.good { color: var(--good); }
.bad { color: var(--bad); }
a { color: var(--select); cursor: pointer; text-decoration: none; }
a:hover { text-decoration: underline; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 12px; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap;
  vertical-align: top; }
th { position: sticky; top: -14px; background: #fff; color: var(--soft); font-weight: 600; z-index: 1; }
th.sorts { cursor: pointer; }
th.up::after { content: " \25B4"; } th.down::after { content: " \25BE"; }
td.text, th.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
td.short, th.short { text-align: left; }
tr.row { cursor: pointer; }
tr.row:hover td { background: var(--back); }
tr.selected td, tr.selected:hover td { background: #e7f0fb; }
tr.chosen td { font-weight: 600; }
.cards { display: flex; flex-wrap: wrap; gap: 10px; margin-bottom: 6px; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px; min-width: 118px; }
.card b { display: block; font-size: 19px; font-weight: 600; }
.card span { color: var(--soft); }
.columns { display: flex; gap: 28px; align-items: flex-start; }
.columns > * { flex: 1; min-width: 0; }
pre { background: var(--back); border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; margin: 0;
  overflow: auto; max-height: 420px; font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
.swatch.framed { border: 1px solid #98a1af; }
.swatch.kernel { border: 2px solid; width: 12px; height: 12px; vertical-align: -2px; }
.bar { display: inline-block; height: 9px; border-radius: 3px; background: var(--accent); vertical-align: middle; }
.chart { width: 100%; height: auto; display: block; }
.chart text { fill: var(--soft); font-size: 12px; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.chart .grid { stroke: #e8ebef; }
.chart .limit { stroke: var(--soft); stroke-width: 1.5; fill: none; }
.chart circle { stroke: #fff; cursor: pointer; }
#drawing { flex: 1; min-width: 0; position: relative; background: var(--back); overflow: hidden; }
#canvas { width: 100%; height: 100%; display: block; cursor: grab; user-select: none; }
#canvas.drag { cursor: grabbing; }
#tools { position: absolute; left: 12px; top: 12px; display: flex; gap: 6px; }
.key { margin-right: 12px; white-space: nowrap; }
.key.line { margin: 0 0 3px; overflow: hidden; text-overflow: ellipsis; }
.node { cursor: pointer; }
.node rect { stroke: #98a1af; fill: #fff; rx: 5; }
.node .op { font: 600 12px ui-monospace, "DejaVu Sans Mono", Menlo, monospace; fill: var(--text); }
.node .type { font: 11px ui-monospace, "DejaVu Sans Mono", Menlo, monospace; fill: var(--soft); }
.node.out rect { stroke-width: 2.5; stroke: var(--text); }
.node.hit rect { fill: var(--hit) !important; }
.node.near rect { stroke: var(--select); stroke-width: 2; }
.node.selected rect { stroke: var(--select); stroke-width: 3.5; }
.edge { fill: none; stroke: #b3bbc7; stroke-width: 1.2; }
.edge.near { stroke: var(--select); stroke-width: 2.2; }
)css";

const std::string_view kExplainBody = R"html(<body>
<header>
<h1 id="heading"></h1>
<select id="program" title="program"></select>
<button data-tab="compare">Compare</button><button data-tab="overview">Overview</button>
<button data-tab="graph">Graph</button><button data-tab="kernels">Kernels</button>
<button data-tab="search">Search</button><button data-tab="classes">Classes</button>
<span id="space"></span>
<select id="part" title="part of the program"></select>
<input id="search" type="search" placeholder="find" title="ops, names, types, kernels, rules"><span id="found"></span>
</header>
<main>
<section id="tab-compare"><div class="scroll"></div></section>
<section id="tab-overview"><div class="scroll"></div></section>
<section id="tab-graph"><div id="drawing"><svg id="canvas" xmlns="http://www.w3.org/2000/svg"><g id="world"></g></svg>
<div id="tools"><button id="view-written">As written</button><button id="view-chosen">As chosen</button>
<button id="fit">Fit</button><button id="closer" title="closer">+</button>
<button id="farther" title="farther">−</button></div>
</div><aside id="node-panel"></aside></section>
<section id="tab-kernels"><div class="scroll"></div><aside id="kernel-panel" style="width:560px"></aside></section>
<section id="tab-search"><div class="scroll"></div></section>
<section id="tab-classes"><div class="scroll"></div><aside id="class-panel" style="width:600px"></aside></section>
</main>
)html";

}  // namespace lumen::tools

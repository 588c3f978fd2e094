#include "lumen/egraph/report/page_parts.h"

namespace lumen::egraph {

const std::string_view kPageStyle = R"css(
:root { --line: #c9ced6; --text: #1d2430; --soft: #6b7482; --chosen: #d9480f; --select: #1864ab; --hit: #ffe066; }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; color: var(--text);
  font: 13px/1.4 system-ui, sans-serif; }
header { display: flex; gap: 12px; align-items: center; padding: 6px 12px; border-bottom: 1px solid var(--line); }
header h1 { font-size: 15px; margin: 0; }
header button { font: inherit; border: 1px solid var(--line); background: #fff; border-radius: 4px; padding: 2px 10px;
  cursor: pointer; }
header button.on { background: var(--text); color: #fff; }
#search { font: inherit; padding: 3px 8px; width: 220px; border: 1px solid var(--line); border-radius: 4px; }
#summary { color: var(--soft); margin-left: auto; }
main { flex: 1; display: flex; min-height: 0; }
section { flex: 1; min-width: 0; overflow: auto; display: none; }
section.on { display: flex; }
#graph { overflow: hidden; }
#canvas { flex: 1; min-width: 0; cursor: grab; background: #fafbfc; user-select: none; }
#canvas.drag { cursor: grabbing; }
.class rect.box { fill: #fff; stroke: #8a94a3; rx: 5; }
.class { cursor: pointer; }
.class .title { fill: var(--soft); font-size: 12px; }
.class .op { font: 12px ui-monospace, monospace; fill: var(--text); }
.node rect { fill: #f1f3f6; stroke: none; rx: 3; }
.node.best .op { font-weight: 600; }
.node.chosen rect { fill: #ffe8d9; stroke: var(--chosen); }
.node.chosen .op { font-weight: 700; fill: var(--chosen); }
.node.subsumed .op { fill: #a4abb6; text-decoration: line-through; }
.class.root rect.box { stroke-width: 2.5; stroke: var(--text); }
.class.hit rect.box { fill: var(--hit); }
.class.selected rect.box { stroke: var(--select); stroke-width: 3; }
.edge { fill: none; stroke: #aab2bf; stroke-width: 1; }
.many .edge { stroke-opacity: 0.35; }
.many .edge.chosen, .many .edge.near { stroke-opacity: 1; }
.edge.chosen { stroke: var(--chosen); stroke-width: 2; }
.edge.near { stroke: var(--select); stroke-width: 2; }
#panel { width: 320px; border-left: 1px solid var(--line); padding: 10px 14px; overflow: auto; }
#panel h2 { font-size: 14px; margin: 0 0 6px; }
#panel h3 { font-size: 12px; margin: 12px 0 4px; color: var(--soft); }
#panel ul { list-style: none; margin: 0; padding: 0; font: 12px ui-monospace, monospace; }
#panel li { padding: 2px 4px; border-radius: 3px; overflow-wrap: anywhere; }
#panel li.chosen { background: #ffe8d9; }
#panel li.subsumed { color: #a4abb6; text-decoration: line-through; }
#panel a { color: var(--select); cursor: pointer; }
#panel .cost { color: var(--soft); float: right; }
table { border-collapse: collapse; margin: 14px; align-self: flex-start; }
th, td { padding: 3px 10px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { position: sticky; top: 0; background: #fff; cursor: pointer; color: var(--soft); }
th.up::after { content: " \25B2"; } th.down::after { content: " \25BC"; }
td.text, th.text { text-align: left; font: 12px ui-monospace, monospace; max-width: 60ch; overflow: hidden;
  text-overflow: ellipsis; }
)css";

const std::string_view kPageBody = R"html(<body>
<header>
<h1 id="heading"></h1>
<button id="tab-graph">Graph</button><button id="tab-rules">Rules</button><button id="tab-iterations">Iterations</button>
<input id="search" type="search" placeholder="find nodes or classes">
<span id="found"></span>
<button id="fit">Fit</button>
<span id="summary"></span>
</header>
<main>
<section id="graph"><svg id="canvas" xmlns="http://www.w3.org/2000/svg"><g id="world"></g></svg>
<aside id="panel"></aside></section>
<section id="rules"><table id="rule-table"></table></section>
<section id="iterations"><table id="iteration-table"></table></section>
</main>
)html";

}  // namespace lumen::egraph

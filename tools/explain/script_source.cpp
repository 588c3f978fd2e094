#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainSource = R"js(
const written = () => part().written.nodes;
// That the file has for a node; of a node that was chosen, for what it is equal to.
const namesOf = n => n.names || (n.from || []).flatMap(k => written()[k].names || []);
// A name with its % is itself alone, other texts are found in names, too.
const isNamed = names => matches(...(state.search.startsWith("%") ? [] : names)) || names.includes(state.search);

// What a kernel computes of what was written.
function fromKernel(kernel) {
  const places = part().calls.flatMap((k, call) => k === kernel ? part().from[call] : []);
  return [...new Set(places)].sort((a, b) => a - b);
}
// The kernels that compute a node of what was written, as calls.
const callsFrom = k => part().from.flatMap((places, call) => places.includes(k) ? [call] : []);

// The file has no lines of a model: the weights that are read next to a node say where it is.
function weightsNear(places) {
  let near = places;
  for (let depth = 0; depth < 40 && near.length > 0; ++depth) {
    const reads = [...new Set(near.flatMap(k => written()[k].in))];
    const names = reads.filter(k => written()[k].given).map(k => written()[k].name);
    if (names.length > 0) return { names, depth };
    near = reads;
  }
  return { names: [], depth: 0 };
}

const writtenLink = (k, text) => make("a", { onclick: () => go({ tab: "graph", view: "written", select: k }) }, text);
// Lines as 3–5, 9: each leads to its node.
function lineLinks(places) {
  const lines = places.filter(k => written()[k].lines).map(k => ({ k, line: written()[k].lines[0] }));
  const runs = [];
  for (const each of lines.sort((a, b) => a.line - b.line)) {
    const last = runs[runs.length - 1];
    if (last && each.line <= last.to + 1) last.to = each.line;
    else runs.push({ k: each.k, from: each.line, to: each.line });
  }
  const most = 24, text = r => r.from === r.to ? String(r.from) : r.from + "–" + r.to;
  const links = runs.slice(0, most).map((r, at) => [at > 0 ? ", " : "", writtenLink(r.k, text(r))]);
  const often = Math.max(1, ...places.map(k => (written()[k].lines || []).length));
  return [links, runs.length > most ? " and " + (runs.length - most) + " more" : "",
    often > 1 ? ", and the like " + (often - 1) + " times more" : ""];
}
// Where nodes of what was written stand: null when nothing is known of it.
function standAt(places) {
  if (places.some(k => written()[k].lines)) return [program().name.split("/").pop() + ":", lineLinks(places)];
  const { names, depth } = weightsNear(places), most = 6;
  if (names.length === 0) return null;
  return (depth === 0 ? "" : "after ") + names.slice(0, most).join(", ") +
    (names.length > most ? " and " + (names.length - most) + " more" : "");
}
// Of a node of what was written: its first line, with the others behind it.
function sourceOf(k) {
  const n = written()[k];
  if (!n.lines) return n.op === "Input" ? null : standAt([k]);
  const others = n.lines.slice(1).map((line, at) => line + " " + n.names[at + 1]).join(", ");
  return [program().name + ":" + n.lines[0] + " " + n.names[0], others === "" ? null :
    make("details", {}, make("summary", {}, "and " + (n.lines.length - 1) + " more"), others)];
}
)js";

}  // namespace lumen::tools

#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainSearch = R"js(
const kGrowth = [["rows", "terms", "#3b5bdb"], ["classes", "classes", "#e8590c"]];

// Terms and classes after each iteration.
function growthChart(growth) {
  const width = 520, height = 220, left = 56, right = 508, top = 12, low = 186;
  const most = Math.max(...growth.map(g => Math.max(g.rows, g.classes)), 1);
  const x = k => growth.length < 2 ? (left + right) / 2 : left + k / (growth.length - 1) * (right - left);
  const y = v => low - v / most * (low - top);
  const step = Math.ceil(growth.length / 10);
  const level = part => [
    make("line", { class: "grid", x1: left, x2: right, y1: y(part * most), y2: y(part * most) }),
    chartText(left - 8, y(part * most) + 4, "end", amount(part * most).trim()),
  ];
  const line = ([key, name, stroke]) => [
    make("polyline", { points: growth.map((g, k) => x(k) + "," + y(g[key])), fill: "none", stroke, "stroke-width": 2 }),
    growth.map((g, k) => make("circle", { cx: x(k), cy: y(g[key]), r: 3.5, fill: stroke },
      make("title", {}, name + " after iteration " + (k + 1) + ": " + g[key]))),
  ];
  return make("svg", { class: "chart", id: "growth", viewBox: "0 0 " + width + " " + height },
    [0, 0.25, 0.5, 0.75, 1].map(level), kGrowth.map(line),
    growth.map((g, k) => k % step === 0 ? chartText(x(k), low + 16, "middle", String(k + 1)) : null),
    chartText(right, height - 3, "end", "iteration"));
}

function whyCandidate(c, best) {
  if (c.chosen) return "taken";
  if (c.seconds === null) return "not timed";
  return c.seconds > best ? times(c.seconds / best) + " as long" : "no faster";
}
function saturationText(s) {
  if (s.iterations === 0) return make("p", {}, "No rules were run: the graph was compiled as it is written.");
  return make("p", {}, s.rows + " terms in " + s.classes + " classes after " + count(s.iterations, "iteration"),
    ", in " + time(s.seconds) + " (" + time(s.facts) + " of these for facts). ",
    s.limit ? make("span", { class: "bad" }, "Stopped by a limit: " + s.limit + ".")
      : make("span", { class: "good" }, "Nothing new was left to find."));
}

function drawSearch() {
  const p = part(), fired = p.rules.filter(r => r.matches > 0 && keeps(r.name));
  const idle = p.rules.filter(r => r.matches === 0), chosen = p.candidates.find(c => c.chosen);
  const key = ([, name, colour]) =>
    make("span", { class: "key" }, make("span", { class: "swatch", style: "background:" + colour }), name);
  const place = c => p.candidates.indexOf(c) + 1;
  fill(scroll("search"),
    make("h2", {}, "What the rules found in " + nameOfPart(program(), state.part)),
    saturationText(p.saturation),
    make("div", { class: "columns" },
      make("div", {},
        p.growth.length > 0 ? titled("Growth", growthChart(p.growth), note(kGrowth.map(key))) : null,
        titled("Programs that were taken out", table("candidates", [
          words("program", place, c => "#" + place(c)),
          number("nodes", c => c.nodes),
          number("estimate", c => c.estimate, time),
          number("in kernels", c => c.seconds, time),
          words("why", c => c.seconds, c => whyCandidate(c, chosen.seconds)),
        ], p.candidates, { mark: c => c.chosen ? "chosen" : "" })),
        p.cuts.length > 0 ? titled("Groups that were timed as two kernels",
          cutTable("all-cuts", "group", c => c.whole, p.cuts)) : null),
      make("div", {},
        titled("Rules that fired", table("rules", [
          words("rule", r => r.name, r => make("code", {}, r.name)),
          number("matches", r => r.matches),
          number("terms", r => r.rows),
          number("unions", r => r.unions),
          number("time", r => r.seconds, time),
        ], fired, { by: 4 })),
        idle.length > 0 ? make("details", {}, make("summary", {}, count(idle.length, "rule") + " matched nothing"),
          make("p", { class: "soft mono" }, idle.map(r => r.name).join(", "))) : null)));
}

// Whether a term is the one that the program uses.
function isChosen(cls, term) {
  const nodes = part().chosen.nodes;
  const text = n => n.fields.map(f => ":" + f[0] + " " + f[1]).join(" ");
  return nodes.some(n => n.class === cls.id && n.op === term.op && n.in.length === term.in.length &&
    n.in.every((i, k) => nodes[i].class === term.in[k]) && (term.fields.includes("…") || term.fields === text(n)));
}
function classLink(id) {
  const known = part().classes.some(c => c.id === id);
  return known ? make("a", { onclick: () => go({ cls: id }) }, "c" + id + " ") : "c" + id + " ";
}

function drawClasses() {
  const p = part(), use = new Map();
  for (const n of p.chosen.nodes) if (n.class !== undefined) use.set(n.class, n.op);
  const rows = p.classes.filter(c => keeps("c" + c.id, c.type, ...c.terms.map(t => t.op)));
  const most = (a, b) => b.terms.length > a.terms.length ? b : a;
  if (state.cls === null && rows.length > 0) state.cls = rows.reduce(most).id;
  fill(scroll("classes"), make("h2", {}, "Classes that the programs were taken from"),
    note(p.classes.length === 0 ? "No rules were run."
      : "A class holds equal terms. Programs are taken out by estimated costs; times decide among those."),
    table("class-table", [
      number("class", c => c.id, id => "c" + id),
      words("type", c => c.type),
      number("terms", c => c.terms.length + c.omitted),
      words("the program uses", c => use.get(c.id) || "", c => use.get(c.id) || make("span", { class: "soft" }, "none")),
    ], rows, { by: 2, pick: c => go({ cls: c.id }), mark: c => c.id === state.cls ? "selected" : "" }));
  showClass();
}

function showClass() {
  const panel = byId("class-panel"), c = part().classes.find(x => x.id === state.cls);
  if (!c) return fill(panel);
  const chosen = c.terms.find(t => isChosen(c, t)), node = part().chosen.nodes.findIndex(n => n.class === c.id);
  const least = Math.min(...c.terms.map(t => t.total === null || t.avoided ? Infinity : t.total));
  const why = t => {
    if (t === chosen) return "in the program";
    if (t.avoided) return "a view of a view";
    if (t.total === null) return "has no finite cost";
    return t.total <= least * 1.0001 ? "as cheap" : more(t.total, least);
  };
  const term = t => make("code", {}, t.op + " ", t.in.map(classLink), make("span", { class: "soft" }, t.fields));
  fill(panel, make("h2", { id: "class-title" }, "class c" + c.id), make("p", { class: "mono" }, c.type),
    node < 0 ? null : make("p", {}, make("a", { onclick: () => go({ tab: "graph", view: "chosen", select: node }) },
      "show it in the graph")),
    table("terms", [
      words("term", t => t.op, term),
      number("own cost", t => t.cost, time),
      number("in all", t => t.total, time),
      short("why", t => t.total, why),
    ], c.terms, { mark: t => t === chosen ? "chosen" : "" }),
    c.omitted > 0 ? note("and " + c.omitted + " dearer ones") : null);
}
)js";

}  // namespace lumen::tools

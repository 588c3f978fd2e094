#include "lumen/egraph/report/page_parts.h"

namespace lumen::egraph {

const std::string_view kPageScript = R"js(
const data = JSON.parse(document.getElementById("graph-data").textContent);
const reports = JSON.parse(document.getElementById("report-data").textContent);
const classes = data.classes, byId = new Map(classes.map((c, i) => [c.id, i]));
const element = id => document.getElementById(id);
const svg = (name, attributes, parent) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (parent) parent.append(e);
  return e;
};
const html = (name, text, parent, css) => {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (css) e.className = css;
  if (parent) parent.append(e);
  return e;
};

// ---- the drawing

// What a relation holds is in no class: it has a box of its own, whose sort nobody wrote.
for (const c of classes) c.title = c.type.startsWith("@") ? "fact" : c.names ? c.id + " " + c.names : c.id;
const size = layout(classes);
const users = classes.map(() => []);
classes.forEach((c, i) => c.nodes.forEach(n => n.args.forEach(a => {
  if (typeof a === "number" && !users[a].includes(i)) users[a].push(i);
})));

function drawClass(c, i, parent) {
  const g = svg("g", { class: "class", id: "class-" + i, "data-id": c.id, transform: `translate(${c.x},${c.y})` }, parent);
  if (data.roots.includes(i)) g.classList.add("root");
  svg("rect", { class: "box", width: c.width, height: c.height }, g);
  svg("text", { class: "title", x: kPad + 2, y: 13 }, g).textContent = shorten(c.title, 40);
  c.nodes.forEach((n, k) => {
    const y = kTitle + k * kRow;
    const row = svg("g", { class: "node " + n.mark }, g);
    svg("rect", { x: kPad, y, width: c.width - 2 * kPad, height: kRow - 3 }, row);
    svg("text", { class: "op", x: kPad + 4, y: y + 12 }, row).textContent = n.text;
  });
  c.element = g;
  g.addEventListener("click", () => { if (!moved) { select(i); } });
}

// From the dot that stands for the argument to the top of the class.
function drawEdges(c, i, parent) {
  c.edges = [];
  c.nodes.forEach((n, k) => {
    let at = n.op.length + 1;
    for (const a of n.args) {
      if (typeof a !== "number") { at += shorten(a, 24).length + 1; continue; }
      const d = classes[a], x = c.x + kPad + 4 + Math.min(at, 59) * kChar + kChar / 2;
      const y = c.y + kTitle + k * kRow + 8, tx = d.x + d.width / 2;
      const bottom = c.y + c.height, up = d.y <= bottom;
      const path = a === i ? `M${x},${y} C${c.x + c.width + 40},${y} ${c.x + c.width + 40},${c.y - 20} ${tx},${d.y}`
        : up ? `M${x},${y} C${x},${bottom + 40} ${tx},${d.y - 60} ${tx},${d.y}`
        : `M${x},${y} L${x},${bottom} C${x},${bottom + 25} ${tx},${d.y - 25} ${tx},${d.y}`;
      const edge = svg("path", { class: "edge" + (n.mark === "chosen" ? " chosen" : ""), d: path }, parent);
      c.edges.push(edge);
      (d.incoming ||= []).push(edge);
      at += 2;
    }
  });
}

const world = element("world");
if (classes.length > 300) world.classList.add("many");
const edgeLayer = svg("g", { id: "edges" }, world), boxLayer = svg("g", { id: "boxes" }, world);
classes.forEach((c, i) => { drawClass(c, i, boxLayer); drawEdges(c, i, edgeLayer); });

// ---- pan and zoom

const canvas = element("canvas");
let scale = 1, offsetX = 0, offsetY = 0, moved = false;
function show() { world.setAttribute("transform", `translate(${offsetX},${offsetY}) scale(${scale})`); }
function fit() {
  const w = canvas.clientWidth || 1000, h = canvas.clientHeight || 700;
  scale = Math.min(1.5, 0.96 * Math.min(w / size.width, h / size.height));
  offsetX = (w - size.width * scale) / 2;
  offsetY = (h - size.height * scale) / 2;
  show();
}
function center(c) {
  scale = Math.max(scale, 0.7);
  offsetX = (canvas.clientWidth || 1000) / 2 - (c.x + c.width / 2) * scale;
  offsetY = (canvas.clientHeight || 700) / 2 - (c.y + c.height / 2) * scale;
  show();
}
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
  const next = Math.min(8, Math.max(0.005, scale * Math.exp(-e.deltaY * 0.0015)));
  offsetX = x - (x - offsetX) * next / scale;
  offsetY = y - (y - offsetY) * next / scale;
  scale = next;
  show();
}, { passive: false });
let drag = null;
canvas.addEventListener("mousedown", e => { drag = [e.clientX - offsetX, e.clientY - offsetY, e.clientX, e.clientY]; moved = false; });
window.addEventListener("mousemove", e => {
  if (!drag) return;
  moved ||= Math.abs(e.clientX - drag[2]) + Math.abs(e.clientY - drag[3]) > 4;
  canvas.classList.toggle("drag", moved);
  offsetX = e.clientX - drag[0];
  offsetY = e.clientY - drag[1];
  show();
});
window.addEventListener("mouseup", () => { drag = null; canvas.classList.remove("drag"); });

// ---- selection and search

let selected = -1;
function classLink(i, parent) {
  const a = html("a", classes[i].id, parent);
  a.addEventListener("click", () => { select(i); center(classes[i]); });
}
function fillPanel() {
  const panel = element("panel");
  panel.replaceChildren();
  if (selected < 0) {
    html("h2", "Click on a class", panel);
    html("p", "Drag to move, scroll to zoom. Orange: the cheapest program for the roots. Bold: the cheapest node of its class.", panel);
    return;
  }
  const c = classes[selected];
  html("h2", c.title, panel);
  html("div", `sort ${c.type}, ${c.nodes.length} node${c.nodes.length === 1 ? "" : "s"}, cheapest term ` +
    (c.cost === null ? "none" : c.cost), panel);
  html("h3", "Nodes", panel);
  const list = html("ul", undefined, panel);
  list.id = "members";
  for (const n of c.nodes) {
    const item = html("li", undefined, list, n.mark);
    html("span", n.cost === null ? "" : String(n.cost), item, "cost");
    item.append(n.args.length > 0 ? `(${n.op}` : n.op);
    for (const a of n.args) {
      item.append(" ");
      if (typeof a === "number") classLink(a, item); else item.append(a);
    }
    if (n.args.length > 0) item.append(")");
  }
  html("h3", "Used by", panel);
  const used = html("ul", undefined, panel);
  used.id = "users";
  for (const u of users[selected]) classLink(u, html("li", undefined, used));
}
function select(i) {
  if (selected >= 0) {
    const old = classes[selected];
    old.element.classList.remove("selected");
    for (const e of [...old.edges, ...(old.incoming || [])]) e.classList.remove("near");
  }
  selected = i;
  if (i >= 0) {
    classes[i].element.classList.add("selected");
    for (const e of [...classes[i].edges, ...(classes[i].incoming || [])]) e.classList.add("near");
  }
  fillPanel();
}
function search(text) {
  const wanted = text.trim().toLowerCase();
  let hits = [];
  classes.forEach((c, i) => {
    const hit = wanted !== "" && (c.title.toLowerCase().includes(wanted) ||
      c.nodes.some(n => [n.op, ...n.args.filter(a => typeof a === "string")].join(" ").toLowerCase().includes(wanted)));
    c.element.classList.toggle("hit", hit);
    if (hit) hits.push(i);
  });
  element("found").textContent = wanted === "" ? "" : `${hits.length} found`;
  return hits;
}
let nextHit = 0;
element("search").addEventListener("input", e => { search(e.target.value); nextHit = 0; });
element("search").addEventListener("keydown", e => {
  if (e.key !== "Enter") return;
  const hits = search(e.target.value);
  if (hits.length === 0) return;
  const i = hits[nextHit++ % hits.length];
  select(i);
  center(classes[i]);
});

// ---- tables and tabs

function fillTable(table, columns, rows) {
  const head = html("tr", undefined, html("thead", undefined, table)), body = html("tbody", undefined, table);
  const draw = () => {
    body.replaceChildren();
    for (const r of rows) {
      const line = html("tr", undefined, body);
      for (const [, key, css, show] of columns) html("td", show ? show(r[key]) : String(r[key]), line, css).title = r[key];
    }
  };
  columns.forEach(([title, key, css], k) => {
    const cell = html("th", title, head, css);
    cell.addEventListener("click", () => {
      const down = !cell.classList.contains("down");
      for (const other of head.children) other.classList.remove("up", "down");
      cell.classList.add(down ? "down" : "up");
      rows.sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * (down ? -1 : 1));
      draw();
    });
    cell.id = `${table.id}-${key}`;
  });
  draw();
}
const time = s => s >= 1 ? s.toFixed(2) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(2) + " ms" : (s * 1e6).toFixed(0) + " µs";
const count = n => n.toLocaleString("en");
fillTable(element("rule-table"), [["rule", "name", "text"], ["runs", "runs", "", count], ["matches", "matches", "", count],
  ["rows", "rows", "", count], ["unions", "unions", "", count], ["search", "search_seconds", "", time],
  ["apply", "apply_seconds", "", time]], reports.rules);
reports.iterations.forEach((r, i) => { r.iteration = i + 1; });
fillTable(element("iteration-table"), [["iteration", "iteration", ""], ["matches", "matches", "", count],
  ["rows", "rows", "", count], ["classes", "classes", "", count], ["bytes", "bytes", "", count],
  ["search", "search_seconds", "", time], ["apply", "apply_seconds", "", time], ["rebuild", "rebuild_seconds", "", time],
  ["limit", "limit", "text"]], reports.iterations);

const tabs = ["graph", "rules", "iterations"];
function openTab(name) {
  for (const t of tabs) {
    element(t).classList.toggle("on", t === name);
    element("tab-" + t).classList.toggle("on", t === name);
  }
}
for (const t of tabs) element("tab-" + t).addEventListener("click", () => { location.hash = "tab=" + t; });
element("fit").addEventListener("click", fit);

function followFragment() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  openTab(tabs.includes(wanted.get("tab")) ? wanted.get("tab") : "graph");
  if (wanted.has("search")) {
    element("search").value = wanted.get("search");
    search(wanted.get("search"));
  }
  if (byId.has(wanted.get("select"))) {
    select(byId.get(wanted.get("select")));
    center(classes[selected]);
  }
  if (wanted.has("sort")) element(wanted.get("sort"))?.click();
}
window.addEventListener("hashchange", followFragment);
const nodeCount = classes.reduce((s, c) => s + c.nodes.length, 0);
element("heading").textContent = document.title;
element("summary").textContent = `${count(nodeCount)} nodes, ${count(classes.length)} classes` +
  (data.omitted > 0 ? `, ${count(data.omitted)} nodes left out` : "");
openTab("graph");
fit();
// Letters are 12 pixels high. Where all of it is too small to read, begin where the program begins.
if (scale * 12 < 11 && classes.length > 0) {
  const first = classes[data.roots[0] ?? 0];
  scale = 1;
  offsetX = (canvas.clientWidth || 1000) / 2 - (first.x + first.width / 2);
  offsetY = 40 - first.y;
  show();
}
fillPanel();
followFragment();
document.body.dataset.ready = "true";
)js";

}  // namespace lumen::egraph

#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainGraph = R"js(
const canvas = byId("canvas"), world = byId("world");
let camera = { x: 0, y: 0, scale: 1 }, isMoved = false;
let drawn = { key: "", nodes: [], edges: [] };
const graph = () => part()[state.view];
const kFamilies = {
  leaf: "#e7f5ff", view: "#f1f3f5", unary: "#fff4e6", binary: "#fff4e6", select: "#fff4e6", cast: "#f8f0fc",
  reduce: "#ebfbee", contract: "#ffe3e3", gather: "#e6fcf5", scatter: "#e6fcf5", sort: "#fff9db", scan: "#fff9db",
  loop: "#e5dbff",
};

function colour(node) {
  if (state.view === "written") return kFamilies[node.family] || "#fff";
  return node.calls === undefined ? "#fff" : node.calls.length > 1 ? "#f1f3f5" : hue(part().calls[node.calls[0]]);
}

function moveCamera() {
  world.setAttribute("transform", "translate(" + camera.x + " " + camera.y + ") scale(" + camera.scale + ")");
}
function zoom(factor, x, y) {
  isMoved = true;
  const scale = Math.min(3, Math.max(0.03, camera.scale * factor));
  camera.x = x - (x - camera.x) * scale / camera.scale;
  camera.y = y - (y - camera.y) * scale / camera.scale;
  camera.scale = scale;
  moveCamera();
}
function box() {
  const nodes = graph().nodes;
  const left = Math.min(...nodes.map(n => n.x)), right = Math.max(...nodes.map(n => n.x + n.width));
  return { left, right, bottom: Math.max(...nodes.map(n => n.y + n.height)) };
}
// All of it; or, when that would be too small to read, its end, which is where results are.
function fit(readable) {
  if (graph().nodes.length === 0) return;
  const { left, right, bottom } = box(), frame = canvas.getBoundingClientRect();
  let scale = Math.min(1.2, (frame.width - 60) / (right - left), (frame.height - 120) / bottom);
  const whole = !readable || scale > 0.62;
  if (!whole) scale = 0.85;
  const last = graph().nodes.reduce((a, b) => b.y >= a.y ? b : a);
  const middle = whole ? (left + right) / 2 : last.x + last.width / 2;
  camera = { scale, x: frame.width / 2 - middle * scale, y: whole ? 60 : frame.height - 60 - bottom * scale };
  if (whole) camera.y = Math.max(60, (frame.height - bottom * scale) / 2);
  moveCamera();
}
function centre(node) {
  isMoved = true;
  const frame = canvas.getBoundingClientRect();
  camera.scale = Math.max(camera.scale, 0.85);
  camera.x = frame.width / 2 - (node.x + node.width / 2) * camera.scale;
  camera.y = frame.height / 2 - (node.y + node.height / 2) * camera.scale;
  moveCamera();
}

// One that passes layers goes around what is there, to the left or to the right.
function edgePath(from, to) {
  const x = from.x + from.width / 2, y = from.y + from.height, u = to.x + to.width / 2, v = to.y;
  const bend = Math.min(60, (v - y) / 2), span = to.layer - from.layer;
  let aside = 0;
  if (span > 1 && Math.abs(x - u) < 90) {
    const isLeft = x < u || x === u && from.in.length % 2 === 0;
    aside = (isLeft ? -1 : 1) * (Math.max(from.width, to.width) * 0.75 + 14 * Math.min(span, 12));
  }
  const points = [[x + aside, y + bend], [u + aside, v - bend], [u, v]];
  return "M" + x + "," + y + " C" + points.map(p => p.join(",")).join(" ");
}
function nodeBox(n, k) {
  return make("g", {
    class: "node" + (n.out ? " out" : ""), "data-node": k, transform: "translate(" + n.x + " " + n.y + ")",
    onclick: () => selectNode(k),
  }, make("rect", { width: n.width, height: n.height, style: "fill:" + colour(n) }),
    make("text", { class: "op", x: 9, y: 17 }, n.title), make("text", { class: "type", x: 9, y: 32 }, n.shownType));
}
function drawNodes(key) {
  const nodes = graph().nodes;
  layout(graph());
  const edge = (from, to) => ({ from, to, path: make("path", { class: "edge", d: edgePath(nodes[from], nodes[to]) }) });
  drawn = { key, nodes: nodes.map(nodeBox), edges: nodes.flatMap((n, k) => n.in.map(i => edge(i, k))) };
  fill(world, drawn.edges.map(e => e.path), drawn.nodes);
  isMoved = false;
  fit(true);
}
function drawGraph() {
  const key = [state.program, state.part, state.view].join("/");
  byId("view-written").classList.toggle("on", state.view === "written");
  byId("view-chosen").classList.toggle("on", state.view === "chosen");
  if (state.select !== null && state.select >= graph().nodes.length) state.select = null;
  if (drawn.key !== key) drawNodes(key);
  markNodes();
  showNode();
}

const hit = n => matches(n.op, n.name, n.type, n.title, ...(n.out || [])) || isNamed(namesOf(n));
function markNodes() {
  const nodes = graph().nodes, near = new Set();
  const chosen = state.select === null ? undefined : nodes[state.select];
  if (chosen) for (const k of [...chosen.in, ...chosen.users]) near.add(k);
  drawn.nodes.forEach((g, k) => {
    g.classList.toggle("selected", k === state.select);
    g.classList.toggle("near", near.has(k));
    g.classList.toggle("hit", hit(nodes[k]));
  });
  for (const e of drawn.edges) e.path.classList.toggle("near", e.from === state.select || e.to === state.select);
}

function selectNode(k, isFar) {
  state.select = k;
  markNodes();
  showNode();
  if (isFar) centre(graph().nodes[k]);
  remember();
}
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const frame = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 500), event.clientX - frame.left, event.clientY - frame.top);
}, { passive: false });
canvas.addEventListener("mousedown", event => {
  const from = { x: event.clientX - camera.x, y: event.clientY - camera.y };
  const move = e => {
    Object.assign(camera, { x: e.clientX - from.x, y: e.clientY - from.y });
    isMoved = true;
    canvas.classList.add("drag");
    moveCamera();
  };
  const up = () => {
    canvas.classList.remove("drag");
    window.removeEventListener("mousemove", move);
    window.removeEventListener("mouseup", up);
  };
  window.addEventListener("mousemove", move);
  window.addEventListener("mouseup", up);
});
window.addEventListener("resize", () => { if (state.tab === "graph" && !isMoved) fit(true); });
for (const view of ["written", "chosen"]) byId("view-" + view).addEventListener("click",
    () => go({ view, select: null }));
byId("fit").addEventListener("click", () => fit(false));
const zoomMiddle = factor => { const frame = canvas.getBoundingClientRect();
    zoom(factor, frame.width / 2, frame.height / 2); };
byId("closer").addEventListener("click", () => zoomMiddle(1.4));
byId("farther").addEventListener("click", () => zoomMiddle(1 / 1.4));
)js";

}  // namespace lumen::tools

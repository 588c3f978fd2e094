#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainLayout = R"js(
const kChar = 7.3, kSmallChar = 6.7, kHeight = 40, kGapX = 18, kGapY = 44;

const shorten = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
function nodeTitle(node) {
  const field = name => (node.fields.find(f => f[0] === name) || ["", ""])[1];
  if (node.op === "Input") return shorten(node.name, 34);
  if (node.op === "Constant") return shorten(field("value"), 22);
  if (field("axis") !== "") return node.op + " " + field("axis");
  return node.op;
}

// A node lies below all that it reads, and as near to its first reader as that allows.
function assignLayers(nodes) {
  for (const n of nodes) n.layer = n.in.length === 0 ? 0 : 1 + Math.max(...n.in.map(i => nodes[i].layer));
  for (const n of [...nodes].reverse()) {
    if (n.users.length > 0) n.layer = Math.min(...n.users.map(u => nodes[u].layer)) - 1;
  }
}

// Orders each layer by the mean place of the neighbours above or below, a few times.
function orderLayers(nodes) {
  const layers = [];
  nodes.forEach((n, k) => { (layers[n.layer] ||= []).push(k); });
  const place = layer => layer.forEach((k, at) => { nodes[k].at = (at + 0.5) / layer.length; });
  for (const layer of layers) place(layer);
  const mean = (k, side) => {
    const near = nodes[k][side];
    return near.length === 0 ? nodes[k].at : near.reduce((sum, n) => sum + nodes[n].at, 0) / near.length;
  };
  for (let round = 0; round < 6; ++round) {
    const down = round % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const key = new Map(layer.map(k => [k, mean(k, down ? "in" : "users")]));
      layer.sort((a, b) => key.get(a) - key.get(b));
      place(layer);
    }
  }
  return layers;
}

// As near to the wishes as the order and the gaps allow: the mean of pushing right and pushing left.
function spread(layer, wish, width) {
  const right = [...wish], left = [...wish];
  for (let i = 1; i < layer.length; ++i) right[i] = Math.max(wish[i], right[i - 1] + width(i - 1) + kGapX);
  for (let i = layer.length - 2; i >= 0; --i) left[i] = Math.min(wish[i], left[i + 1] - width(i) - kGapX);
  return wish.map((w, i) => (right[i] + left[i]) / 2);
}

// Moves every node towards the middle of its neighbours: of those above, of those below, in the end of both.
function assignPlaces(nodes, layers) {
  for (const layer of layers) spread(layer, layer.map(() => 0), i => nodes[layer[i]].width)
    .forEach((x, i) => { nodes[layer[i]].x = x; });
  const middle = k => nodes[k].x + nodes[k].width / 2;
  const rounds = 12, both = 4;
  for (let round = 0; round < rounds; ++round) {
    const down = round % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const wish = layer.map(k => {
        const n = nodes[k], near = round >= rounds - both ? [...n.in, ...n.users] : down ? n.in : n.users;
        return near.length === 0 ? n.x : near.reduce((sum, o) => sum + middle(o), 0) / near.length - n.width / 2;
      });
      spread(layer, wish, i => nodes[layer[i]].width).forEach((x, i) => { nodes[layer[i]].x = x; });
    }
  }
}

// Gives each node x, y, width, height, and `users`.
function layout(graph) {
  const nodes = graph.nodes;
  if (graph.laid) return;
  for (const n of nodes) n.users = [];
  nodes.forEach((n, k) => new Set(n.in).forEach(i => nodes[i].users.push(k)));
  for (const n of nodes) {
    n.title = nodeTitle(n);
    n.shownType = shorten(n.type, 38);
    n.width = Math.max(n.title.length * kChar, n.shownType.length * kSmallChar) + 18;
    n.height = kHeight;
  }
  if (nodes.length === 0) return;
  assignLayers(nodes);
  const first = Math.min(...nodes.map(n => n.layer));
  for (const n of nodes) n.layer -= first;
  const layers = orderLayers(nodes).filter(l => l !== undefined);
  assignPlaces(nodes, layers);
  layers.forEach((layer, k) => layer.forEach(n => { nodes[n].y = k * (kHeight + kGapY); }));
  graph.laid = true;
}
)js";

}  // namespace lumen::tools

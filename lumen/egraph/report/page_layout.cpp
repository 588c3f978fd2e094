#include "lumen/egraph/report/page_parts.h"

namespace lumen::egraph {

// Classes in layers; long layers are folded into several rows.
const std::string_view kLayoutScript = R"js(
"use strict";
const kRow = 19, kTitle = 18, kPad = 5, kChar = 7.25, kGapX = 26, kGapY = 46;

// What a node shows: its head, then its arguments; classes as a dot that an edge starts from.
function nodeText(node) {
  return [node.op, ...node.args.map(a => typeof a === "number" ? "●" : shorten(a, 24))].join(" ");
}
function shorten(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }

function measure(classes) {
  for (const c of classes) {
    c.children = [...new Set(c.nodes.flatMap(n => n.args.filter(a => typeof a === "number")))];
    for (const n of c.nodes) n.text = shorten(nodeText(n), 60);
    const longest = Math.max(...c.nodes.map(n => n.text.length), 4);
    c.width = Math.max(longest * kChar, shorten(c.title, 40).length * 6.9) + 4 * kPad;
    c.height = kTitle + c.nodes.length * kRow + kPad;
  }
}

// A class lies one layer above what its cheapest node uses, so that programs are read from top to bottom; one without a
// cheapest term lies above what its first node uses, cycles being cut.
function assignLayers(classes) {
  const leader = c => c.nodes.find(n => n.mark === "chosen" || n.mark === "best") || c.nodes[0];
  const below = classes.map(c => leader(c).args.filter(a => typeof a === "number"));
  const state = new Uint8Array(classes.length);
  for (const c of classes) c.layer = 0;
  for (let start = 0; start < classes.length; ++start) {
    const stack = state[start] === 0 ? [start] : [];
    while (stack.length > 0) {
      const i = stack[stack.length - 1];
      if (state[i] === 0) {
        state[i] = 1;
        for (const d of below[i]) if (state[d] === 0) stack.push(d);
        continue;
      }
      stack.pop();
      if (state[i] === 2) continue;
      state[i] = 2;
      for (const d of below[i]) if (state[d] === 2 && d !== i) classes[i].layer = Math.max(classes[i].layer, classes[d].layer + 1);
    }
  }
}

// Orders each layer by where its neighbours are, a few times down and up.
function orderLayers(classes) {
  const layers = [];
  classes.forEach((c, i) => { (layers[c.layer] ||= []).push(i); });
  layers.reverse();
  const users = classes.map(() => []);
  classes.forEach((c, i) => c.children.forEach(d => { if (d !== i) users[d].push(i); }));
  const place = layer => layer.forEach((i, at) => { classes[i].at = (at + 0.5) / layer.length; });
  layers.forEach(place);
  const sweep = (layer, neighbours) => {
    const key = new Map();
    for (const i of layer) {
      const near = neighbours(i);
      key.set(i, near.length > 0 ? near.reduce((s, j) => s + classes[j].at, 0) / near.length : classes[i].at);
    }
    layer.sort((a, b) => key.get(a) - key.get(b) || a - b);
    place(layer);
  };
  for (let round = 0; round < 6; ++round) {
    for (const layer of layers) sweep(layer, i => users[i]);
    for (const layer of [...layers].reverse()) sweep(layer, i => classes[i].children);
  }
  return layers;
}

// Rows of at most `most` pixels; a layer that is longer takes several.
function foldLayers(classes, layers, most) {
  const rows = [];
  for (const layer of layers) {
    let row = [], width = 0;
    for (const i of layer) {
      if (row.length > 0 && width + classes[i].width > most) {
        rows.push(row);
        row = [];
        width = 0;
      }
      row.push(i);
      width += classes[i].width + kGapX;
    }
    rows.push(row);
  }
  return rows;
}

function layout(classes) {
  if (classes.length === 0) return { width: 1, height: 1 };
  measure(classes);
  assignLayers(classes);
  const layers = orderLayers(classes);
  let area = 0;
  for (const c of classes) area += (c.width + kGapX) * (c.height + kGapY);
  const most = Math.max(1200, Math.sqrt(area) * 1.6);
  const rows = foldLayers(classes, layers, most);
  const widthOf = row => row.reduce((s, i) => s + classes[i].width + kGapX, -kGapX);
  const width = Math.max(...rows.map(widthOf));
  let y = 0;
  for (const row of rows) {
    let x = (width - widthOf(row)) / 2;
    for (const i of row) {
      classes[i].x = x;
      classes[i].y = y;
      x += classes[i].width + kGapX;
    }
    y += Math.max(...row.map(i => classes[i].height)) + kGapY;
  }
  return { width, height: y - kGapY };
}
)js";

}  // namespace lumen::egraph

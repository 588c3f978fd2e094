#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainStart = R"js(
const kTabs = {
  compare: drawCompare, overview: drawOverview, graph: drawGraph, kernels: drawKernels, search: drawSearch,
  classes: drawClasses,
};
const all = selector => [...document.querySelectorAll(selector)];
const show = (element, isShown) => { element.style.display = isShown ? "" : "none"; };

// The state is in the address.
function remember() {
  const given = Object.entries(state).filter(([, value]) => value !== null && value !== "");
  history.replaceState(null, "", "#" + given.map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&"));
}
function remembered() {
  const result = {};
  for (const pair of location.hash.slice(1).split("&")) {
    const [name, value] = [pair.slice(0, pair.indexOf("=")), decodeURIComponent(pair.slice(pair.indexOf("=") + 1))];
    const isNumber = ["program", "part", "select", "kernel", "cls"].includes(name);
    if (isNumber && /^\d+$/.test(value)) result[name] = Number(value);
    if (name === "tab" && kTabs[value] || name === "view" && ["written", "chosen"].includes(value)) result[name] = value;
    if (name === "search") result.search = value;
  }
  return result;
}

// Changes what is shown.
function go(changes) {
  const differs = name => changes[name] !== undefined && changes[name] !== state[name];
  if (differs("part") || differs("program")) Object.assign(state, { select: null, kernel: null, cls: null });
  Object.assign(state, changes);
  state.program = Math.min(state.program, data.programs.length - 1);
  state.part = Math.min(state.part, program().parts.length - 1);
  for (const button of all("[data-tab]")) button.classList.toggle("on", button.dataset.tab === state.tab);
  for (const section of all("section")) section.classList.toggle("on", section.id === "tab-" + state.tab);
  fill(byId("part"), program().parts.map((p, k) => make("option", { value: k }, "part " + shortNameOfPart(program(), k))));
  byId("part").value = state.part;
  byId("program").value = state.program;
  show(byId("part"), program().parts.length > 1 && !["compare", "overview"].includes(state.tab));
  show(byId("program"), data.programs.length > 1 && state.tab !== "compare");
  kTabs[state.tab]();
  if (state.tab === "graph" && Number.isInteger(changes.select) && state.select !== null) {
    centre(graph().nodes[state.select]);
  }
  showFound();
  remember();
}
function showFound() {
  const isSearched = state.search !== "" && state.tab === "graph";
  byId("found").textContent = isSearched ? graph().nodes.filter(hit).length + " found" : "";
}
function nextHit() {
  const hits = graph().nodes.flatMap((n, k) => hit(n) ? [k] : []);
  if (hits.length > 0) selectNode(hits.find(k => state.select !== null && k > state.select) ?? hits[0], true);
}

function start() {
  const first = { tab: data.programs.length > 1 ? "compare" : "overview", ...remembered() }, box = byId("search");
  byId("heading").textContent = data.programs.map(p => p.name.split("/").pop()).join(" → ");
  for (const button of all("[data-tab]")) button.addEventListener("click", () => go({ tab: button.dataset.tab }));
  show(document.querySelector("[data-tab=compare]"), data.programs.length > 1);
  fill(byId("program"), data.programs.map((p, k) => make("option", { value: k }, "AB"[k] + ": " + p.name)));
  byId("program").addEventListener("change", event => go({ program: Number(event.target.value) }));
  byId("part").addEventListener("change", event => go({ part: Number(event.target.value) }));
  box.value = first.search || "";
  box.addEventListener("input", () => go({ search: box.value }));
  box.addEventListener("keydown", event => { if (event.key === "Enter" && state.tab === "graph") nextHit(); });
  const { select, kernel, cls, ...rest } = first;
  go(rest);
  go(Object.fromEntries(Object.entries({ select, kernel, cls }).filter(e => e[1] !== undefined)));
  document.body.dataset.ready = "true";
}
start();
)js";

}  // namespace lumen::tools

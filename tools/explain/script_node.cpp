#include "tools/explain/page_parts.h"

namespace lumen::tools {

const std::string_view kExplainNode = R"js(
const nodeLink = k => make("a", { onclick: () => selectNode(k, true) }, graph().nodes[k].title + " ");
const kernelLink = k => make("a", { onclick: () => go({ tab: "kernels", kernel: k }) }, part().kernels[k].title);

// What the colours mean.
function legend() {
  const box = colour => make("span", { class: "swatch framed", style: "background:" + colour });
  if (state.view === "written") {
    const families = [...new Set(graph().nodes.map(n => n.family))];
    const key = f => make("span", { class: "key" }, box(kFamilies[f] || "#fff"), f);
    return titled("Colours", make("p", {}, families.map(key)));
  }
  const kernels = part().kernels, total = k => kernels[k].seconds * kernels[k].calls;
  const order = kernels.map((kernel, k) => k).sort((a, b) => total(b) - total(a)), most = 12;
  const often = k => kernels[k].calls > 1 ? " in " + kernels[k].calls + " calls  " : "  ";
  const line = k => make("div", { class: "key line", title: kernels[k].title }, swatch(k),
    time(total(k)) + often(k), kernelLink(k));
  return titled("Kernels, the slowest first", order.slice(0, most).map(line),
    order.length > most ? note("and " + (order.length - most) + " more") : null);
}

function showNothing(panel) {
  const nodes = graph().nodes, isWritten = state.view === "written";
  fill(panel, make("h2", {}, isWritten ? "As it was written" : "As it runs"),
    note(isWritten ? "Colours are kinds of ops."
      : "One colour is one kernel; grey is computed by each kernel that reads it."),
    make("p", {}, count(nodes.length, "node"), isWritten ? "" : " in " + count(part().calls.length, "kernel call"), "."),
    note("Click a node to see it. The wheel zooms, dragging moves, Enter in the search box goes to the next hit."),
    titled("Outputs", make("p", {}, nodes.flatMap((m, k) => m.out ? [nodeLink(k)] : []))), legend());
}

function nodeFacts(n) {
  const [, dtype, shape] = /^(\w+)\[(.*)\]$/.exec(n.type) || [null, n.type, ""];
  const pairs = [["op", n.op], ["dtype", dtype], ["shape", "[" + shape + "]"],
    ...n.fields.filter(f => !["dtype", "shape"].includes(f[0]))];
  const source = state.view === "written" ? sourceOf(state.select) : null;
  if (source !== null) pairs.push(["source", source]);
  if (n.out) pairs.push(["output", n.out.join(", ")]);
  return facts(pairs.map(([name, value]) => [name, make("span", { class: "mono" }, value)]));
}
function callText(call) {
  const k = part().calls[call], kernel = part().kernels[k];
  return make("p", {}, swatch(k), kernelLink(k), make("br"),
    make("span", { class: "soft" }, time(kernel.seconds) + ", " + (kernel.schedule || "interpreted")));
}

const writtenText = k => make("p", {}, writtenLink(k, written()[k].op), " ",
    make("span", { class: "mono soft" }, sourceOf(k)));

function showNode() {
  const panel = byId("node-panel"), n = state.select === null ? undefined : graph().nodes[state.select];
  if (!n) return showNothing(panel);
  const links = (title, nodes) => nodes.length > 0 ? titled(title, make("p", {}, nodes.map(nodeLink))) : null;
  const isWritten = state.view === "written", often = "Computed again in each kernel that reads it";
  const calls = isWritten ? callsFrom(state.select) : n.calls || [];
  const same = (n.from || []).filter(k => written()[k].op !== "Input");
  const alternatives = make("a", { onclick: () => go({ tab: "classes", cls: n.class }) }, "class c" + n.class);
  fill(panel, make("h2", { id: "node-title" }, n.title), nodeFacts(n),
    links("Reads", n.in), links("Read by", n.users),
    same.length > 0 ? titled("As written", same.slice(0, 8).map(writtenText)) : null,
    calls.length > 0 ? titled(calls.length > 1 && !isWritten ? often : "Kernel", calls.slice(0, 8).map(callText)) : null,
    n.class === undefined ? null : titled("Alternatives", make("p", {}, alternatives)), legend());
}
)js";

}  // namespace lumen::tools

#include "lumen/egraph/report/html.h"

#include <fmt/format.h>

#include <iterator>

#include "lumen/egraph/extract/dag.h"
#include "lumen/egraph/extract/tree.h"
#include "lumen/egraph/report/json.h"
#include "lumen/egraph/report/page_parts.h"

namespace lumen::egraph {
namespace {

using ViewNode = GraphView::Node;

// What the page draws of a view. Base values have no box: they stand in the nodes that use them.
class Drawing {
 public:
  Drawing(const GraphView& view, const PageOptions& options)
      : view_(view), facts_(options.facts), shown_(view.classes.size(), kNone) {
    choose_classes(options.max_nodes);
    const FlatGraph graph = view.flat();
    const TreeExtraction tree = tree_extract(graph);
    best_ = tree.choice;
    cost_ = tree.cost;
    program_ = program(graph);
  }

  std::string json() const {
    std::string out = "{\"classes\":[";
    for (size_t i = 0; i < order_.size(); ++i) out += (i > 0 ? ",\n" : "\n") + class_json(order_[i]);
    fmt::format_to(std::back_inserter(out), "],\"roots\":[");
    const char* separator = "";
    for (const uint32_t root : view_.roots) {
      if (shown_[root] == kNone) continue;
      fmt::format_to(std::back_inserter(out), "{}{}", separator, shown_[root]);
      separator = ",";
    }
    fmt::format_to(std::back_inserter(out), "],\"omitted\":{}}}", omitted_);
    return out;
  }

 private:
  // The class is drawn as a box.
  bool has_box(uint32_t c) const {
    if (!facts_ && is_fact(c)) return false;
    if (!view_.classes[c].has_base_sort) return true;
    return view_.classes[c].nodes.size() > 1;  // the value of function entries
  }

  bool is_fact(uint32_t c) const {
    const std::vector<uint32_t>& nodes = view_.classes[c].nodes;
    return !nodes.empty() && view_.nodes[nodes[0]].kind == ViewNode::Kind::fact;
  }

  void choose_classes(size_t max_nodes) {
    size_t nodes = 0;
    std::vector<uint8_t> seen(view_.classes.size(), 0);
    std::vector<uint32_t> queue;
    const auto visit = [&](uint32_t c) {
      if (!seen[c] && has_box(c)) queue.push_back(c);
      seen[c] = 1;
    };
    for (const uint32_t root : view_.roots) visit(root);
    uint32_t next = 0;
    for (size_t at = 0;; ++at) {
      while (at == queue.size() && next < view_.classes.size()) visit(next++);
      if (at == queue.size()) break;
      const GraphView::Class& c = view_.classes[queue[at]];
      if (nodes + c.nodes.size() > max_nodes) {
        omitted_ += c.nodes.size();
        continue;
      }
      nodes += c.nodes.size();
      shown_[queue[at]] = static_cast<uint32_t>(order_.size());
      order_.push_back(queue[at]);
      for (const uint32_t n : c.nodes) {
        for (const uint32_t child : view_.nodes[n].children) visit(child);
      }
    }
  }

  // By class: the node that the cheapest program for the roots uses.
  std::vector<NodeId> program(const FlatGraph& graph) const {
    if (view_.roots.empty()) return std::vector<NodeId>(view_.classes.size(), kNone);
    return select_needed(graph, view_.roots, best_).choice;
  }

  std::string class_json(uint32_t c) const {
    const GraphView::Class& shown = view_.classes[c];
    std::string names;
    for (const std::string& name : shown.names) names += (names.empty() ? "" : " ") + name;
    std::string out = fmt::format("{{\"id\":{},\"type\":{},\"names\":{},\"cost\":{},\"nodes\":[", json_string(shown.id),
                                  json_string(shown.type), json_string(names),
                                  cost_[c] == kInfinite ? "null" : fmt::format("{}", cost_[c]));
    const char* separator = "";
    for (const uint32_t n : shown.nodes) {
      out += separator + node_json(n);
      separator = ",";
    }
    return out + "]}";
  }

  // Arguments are the numbers of boxes, or texts.
  std::string node_json(uint32_t n) const {
    const ViewNode& node = view_.nodes[n];
    std::string out = fmt::format("{{\"op\":{},\"args\":[", json_string(node.op));
    const char* separator = "";
    for (const uint32_t child : node.children) {
      out += separator + argument_json(child);
      separator = ",";
    }
    const bool best = best_[node.owner] == n;
    const bool chosen = program_[node.owner] == n;
    return out + fmt::format("],\"cost\":{},\"mark\":{}}}",
                             node.cost == kInfinite ? "null" : fmt::format("{}", node.cost),
                             node.subsumed ? "\"subsumed\""
                             : chosen      ? "\"chosen\""
                             : best        ? "\"best\""
                                           : "\"\"");
  }

  std::string argument_json(uint32_t c) const {
    if (view_.classes[c].has_base_sort) return json_string(view_.nodes[view_.classes[c].nodes.front()].op);
    return shown_[c] != kNone ? fmt::format("{}", shown_[c]) : json_string("…" + view_.classes[c].id);
  }

  const GraphView& view_;
  const bool facts_;
  std::vector<uint32_t> shown_;  // by class: its box, kNone without
  std::vector<uint32_t> order_;  // the classes of the boxes
  size_t omitted_ = 0;
  std::vector<NodeId> best_;
  std::vector<Cost> cost_;
  std::vector<NodeId> program_;
};

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Nothing in embedded JSON may end the script element it stands in.
std::string embed(const std::string& json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string html_page(const GraphView& view, const PageOptions& options, const std::string& reports) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>";
  page += escape_html(options.title);
  page += "</title>\n<style>\n";
  page += kPageStyle;
  page += "</style>\n</head>\n";
  page += kPageBody;
  page += "<script type=\"application/json\" id=\"graph-data\">" + embed(Drawing(view, options).json());
  page += "</script>\n<script type=\"application/json\" id=\"report-data\">" + embed(reports);
  page += "</script>\n<script>\n";
  page += kLayoutScript;
  page += kPageScript;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

std::string html_page(EGraph& egraph, const PageOptions& options) {
  return html_page(view_graph(egraph, options.view), options, report_json(egraph, options.iterations));
}

}  // namespace lumen::egraph

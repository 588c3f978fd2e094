#include "lumen/egraph/report/json.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace lumen::egraph {
namespace {

std::string number(Cost cost) { return std::isfinite(cost) ? nlohmann::json(cost).dump() : "null"; }

// Written by hand: an ordered JSON object looks keys up one by one, which takes too long for a million nodes.
class Writer {
 public:
  explicit Writer(const GraphView& view) : view_(view) {}

  std::string run() {
    out_ = "{\"nodes\":{";
    for (size_t n = 0; n < view_.nodes.size(); ++n) {
      if (n > 0) out_ += ',';
      node(view_.nodes[n]);
    }
    out_ += "},\"root_eclasses\":[";
    for (size_t i = 0; i < view_.roots.size(); ++i) {
      if (i > 0) out_ += ',';
      out_ += json_string(view_.classes[view_.roots[i]].id);
    }
    out_ += "],\"class_data\":{";
    for (size_t c = 0; c < view_.classes.size(); ++c) {
      if (c > 0) out_ += ',';
      class_data(view_.classes[c]);
    }
    out_ += "}}";
    return std::move(out_);
  }

 private:
  void node(const GraphView::Node& n) {
    fmt::format_to(std::back_inserter(out_), "\n{}:{{\"op\":{},\"children\":[", json_string(n.id), json_string(n.op));
    for (size_t i = 0; i < n.children.size(); ++i) {
      if (i > 0) out_ += ',';
      out_ += json_string(view_.nodes[view_.classes[n.children[i]].nodes.front()].id);
    }
    fmt::format_to(std::back_inserter(out_), "],\"eclass\":{},\"cost\":{},\"subsumed\":{}}}",
                   json_string(view_.classes[n.owner].id), number(n.cost), n.subsumed);
  }

  void class_data(const GraphView::Class& c) {
    fmt::format_to(std::back_inserter(out_), "\n{}:{{\"type\":{}", json_string(c.id), json_string(c.type));
    if (!c.names.empty()) fmt::format_to(std::back_inserter(out_), ",\"let\":{}", json_string(c.names.back()));
    out_ += '}';
  }

  const GraphView& view_;
  std::string out_;
};

}  // namespace

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string graph_json(const GraphView& view) { return Writer(view).run(); }

std::string graph_json(EGraph& egraph, const ViewOptions& options) { return graph_json(view_graph(egraph, options)); }

std::string report_json(const EGraph& egraph, std::span<const IterationReport> iterations) {
  nlohmann::ordered_json report;
  report["iterations"] = nlohmann::ordered_json::array();
  for (const IterationReport& i : iterations) {
    report["iterations"].push_back({{"changed", i.changed},
                                    {"limit", i.limit},
                                    {"matches", i.matches},
                                    {"rows", i.rows},
                                    {"classes", i.classes},
                                    {"bytes", i.bytes},
                                    {"search_seconds", i.search_seconds},
                                    {"apply_seconds", i.apply_seconds},
                                    {"rebuild_seconds", i.rebuild_seconds}});
  }
  report["rules"] = nlohmann::ordered_json::array();
  for (RuleId r = 0; r < egraph.rule_count(); ++r) {
    const RuleReport& rule = egraph.report(r);
    report["rules"].push_back({{"name", rule.name},
                               {"runs", rule.runs},
                               {"joins", rule.joins},
                               {"matches", rule.matches},
                               {"rows", rule.rows},
                               {"unions", rule.unions},
                               {"search_seconds", rule.search_seconds},
                               {"apply_seconds", rule.apply_seconds}});
  }
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace lumen::egraph

#include "lumen/kernel/title.h"

#include <algorithm>
#include <map>

namespace lumen {

namespace {

constexpr size_t kMostNames = 5;

// What stands first: what reduces, then what is dear, then the rest.
int rank(const OpDef& op) {
  switch (op.family) {
    case OpFamily::contract:
      return 0;
    case OpFamily::reduce:
    case OpFamily::scan:
    case OpFamily::sort:
    case OpFamily::scatter:
    case OpFamily::gather:
    case OpFamily::loop:
    case OpFamily::custom:
      return 1;
    case OpFamily::unary:
      return 2;
    default:
      return 3;
  }
}

}  // namespace

std::string kernel_title(const Graph& body) {
  std::vector<std::pair<const OpDef*, int>> counts;  // in the order met
  for (const NodeId id : body.order()) {
    const OpDef* op = body[id].op;
    if (op->family == OpFamily::leaf || op->family == OpFamily::view) continue;
    const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == op; });
    if (found == counts.end()) {
      counts.emplace_back(op, 1);
    } else {
      ++found->second;
    }
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return rank(*a.first) < rank(*b.first); });
  std::string title = counts.empty() ? "copy" : "";
  for (size_t k = 0; k < std::min(counts.size(), kMostNames); ++k) {
    title += (k == 0 ? "" : " ") + std::string(counts[k].first->name);
    if (counts[k].second > 1) title += "*" + std::to_string(counts[k].second);
  }
  if (counts.size() > kMostNames) title += " …";
  if (!body.outputs().empty()) title += " -> " + body[body.outputs()[0].value].type.str();
  return title;
}

}  // namespace lumen

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lumen/import/weights.h"

namespace lumen {

namespace {

constexpr size_t kShown = 8;

std::string type_text(std::string_view type, std::span<const int64_t> dims) {
  return fmt::format("{}[{}]", type, fmt::join(dims, ","));
}

// Nothing when it fits.
std::string misfit(const Weight& given, const WantedWeight& wanted) {
  const bool fits = given.type && given.dims == wanted.dims && (!wanted.type || wanted.type == given.type);
  if (fits) return "";
  const std::string is = type_text(given.type_name, given.dims);
  if (!given.type) return fmt::format("{} is {}, a type that is not supported", wanted.name, is);
  return fmt::format("{} is {}, {} is wanted", wanted.name, is,
                     type_text(wanted.type ? name(*wanted.type) : given.type_name, wanted.dims));
}

struct Complaint {
  std::string what;
  std::vector<std::string> each;
};

void add_to(Diag& diag, const Complaint& complaint) {
  if (complaint.each.empty()) return;
  diag.message += fmt::format("{} {} {}", diag.notes.empty() ? "" : ",", complaint.each.size(), complaint.what);
  const size_t shown = std::min(kShown, complaint.each.size());
  for (size_t k = 0; k < shown; ++k) diag.notes.push_back(fmt::format("{}: {}", complaint.what, complaint.each[k]));
  const size_t left = complaint.each.size() - shown;
  if (left > 0) diag.notes.push_back(fmt::format("{}: and {} more", complaint.what, left));
}

}  // namespace

Expected<void> check_weights(const Weights& weights, std::span<const WantedWeight> wanted) {
  Complaint missing{"missing", {}}, unexpected{"unexpected", {}}, mismatched{"mismatched", {}};
  std::map<std::string_view, const WantedWeight*> names;
  for (const WantedWeight& each : wanted) {
    names.emplace(each.name, &each);
    const auto found = weights.entries().find(each.name);
    if (found == weights.entries().end()) {
      missing.each.push_back(fmt::format("{} {}", each.name, type_text(each.type ? name(*each.type) : "", each.dims)));
    } else if (const std::string text = misfit(found->second, each); !text.empty()) {
      mismatched.each.push_back(text);
    }
  }
  for (const auto& [name, weight] : weights.entries()) {
    if (!names.contains(name))
      unexpected.each.push_back(fmt::format("{} {}", name, type_text(weight.type_name, weight.dims)));
  }
  Diag diag = error(fmt::format("{}: the weights do not fit:", weights.path()));
  add_to(diag, missing);
  add_to(diag, unexpected);
  add_to(diag, mismatched);
  if (diag.notes.empty()) return {};
  return diag;
}

}  // namespace lumen

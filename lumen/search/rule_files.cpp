#include "lumen/search/rule_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lumen/base/flags.h"
#include "lumen/kernel/contract.h"
#include "lumen/search/rule_texts.h"

namespace lumen {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void sort_by_name(std::vector<RuleFile>& files) {
  std::sort(files.begin(), files.end(), [](const RuleFile& a, const RuleFile& b) { return a.name < b.name; });
}

}  // namespace

std::vector<RuleFile> built_in_rules() {
  std::vector<RuleFile> files;
  for (const RuleText& file : rule_texts()) files.push_back({std::string(file.name), std::string(file.text)});
  sort_by_name(files);
  return files;
}

Expected<std::vector<RuleFile>> read_rules(const std::string& folder) {
  std::error_code failure;
  std::vector<RuleFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() != ".egg") continue;
    std::ifstream in(entry.path());
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return error(fmt::format("cannot read the rules in {}", entry.path().string()));
    files.push_back({entry.path().filename().string(), text.str()});
  }
  if (failure) return error(fmt::format("cannot read the folder of rules {}: {}", folder, failure.message()));
  if (files.empty()) return error(fmt::format("the folder of rules {} has no file *.egg", folder));
  sort_by_name(files);
  return files;
}

Expected<std::vector<RuleFile>> rules_in_use() {
  return flags().rules.empty() ? built_in_rules() : read_rules(flags().rules);
}

std::string with_op_lists(std::string_view text) {
  std::string result(text);
  for (int operands = 1; operands <= 3; ++operands) {
    std::string names;
    for (const OpDef* op : llir_ops().ops()) {
      if (!op->is_elementwise() || op->arity != operands) continue;
      names += (names.empty() ? "" : " ") + std::string(op->name);
    }
    replace_all(result, fmt::format("$elementwise{}", operands), names);
  }
  return result;
}

}  // namespace lumen

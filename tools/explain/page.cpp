#include "tools/explain/page.h"

#include "bench/suite/html_parts.h"
#include "tools/explain/page_parts.h"

namespace lumen::tools {

namespace {

// Nothing in embedded JSON may end the script element it stands in.
std::string embedded(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string explain_page(const std::string& title, const nlohmann::json& data) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>";
  page += bench::escaped(title);
  page += "</title>\n<style>\n";
  page += kExplainStyle;
  page += "</style>\n</head>\n";
  page += kExplainBody;
  page += "<script type=\"application/json\" id=\"data\">" + embedded(data) + "</script>\n<script>\n";
  for (const std::string_view part :
       {kExplainBasics, kExplainLayout, kExplainGraph, kExplainSource, kExplainNode, kExplainRoofline, kExplainKernels,
        kExplainSearch, kExplainCompare, kExplainStart}) {
    page += part;
  }
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace lumen::tools

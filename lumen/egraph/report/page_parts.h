// The fixed parts of html_page.
#pragma once

#include <string_view>

namespace lumen::egraph {

extern const std::string_view kPageStyle;
extern const std::string_view kPageBody;      // from <body> on, without the end
extern const std::string_view kLayoutScript;  // places the boxes
extern const std::string_view kPageScript;    // draws them and answers to the user

}  // namespace lumen::egraph

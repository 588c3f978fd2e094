// Chat templates: from text to tree.
#pragma once

#include <memory>
#include <string_view>

#include "lumen/base/expected.h"
#include "lumen/text/template_ast.h"

namespace lumen::text {

Expected<std::shared_ptr<const Template>> parse_template(std::string_view text);

}  // namespace lumen::text

// What the filters share: those over sequences apply other filters and tests to each item.
#pragma once

#include <optional>

#include "lumen/text/template_functions.h"

namespace lumen::text {

// map, select, reject, selectattr, rejectattr; nothing for other names.
Expected<std::optional<Value>> apply_sequence_filter(TemplateContext& context, std::string_view name,
                                                     const Value& value, const Arguments& arguments);
// "a.b.0" of a value, as the arguments called `attribute` say it.
Expected<Value> get_path(TemplateContext& context, Value value, const Value& path);

}  // namespace lumen::text

// Text to trees and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/egraph/lang/ast.h"

namespace lumen::egraph {

// The commands of a text. Expanded here: (for ?R in (A B) command...), which puts each value for ?R in names and
// strings (also in ?R-rule, not in ?Rest), and of egglog-experimental (for (fact...) (action...)), with-ruleset,
// with-dynamic-cost and set-cost (a table cost_table_F beside each constructor F). Everything else is kept as written.
// Brackets nest at most 4,000 deep, commands and schedules 200.
Expected<std::vector<Command>> parse_program(const std::shared_ptr<Source>& source);

// As canonical text that parses to the same tree; long commands are broken over lines.
std::string print_command(const Command& command);
// On one line.
std::string print_expr(const Expr& expr);
std::string print_fact(const Fact& fact);

}  // namespace lumen::egraph

// Chat templates as trees. All nodes belong to the Template, in one list, so that deep trees are freed without
// recursion.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "lumen/text/template_value.h"

namespace lumen::text {

struct ExprNode {
  enum class Kind {
    literal,    // value, or text for a string
    name,       // text
    list,       // items
    tuple,      // items
    dict,       // items: key, value, key, value ...
    attribute,  // items[0] . text
    item,       // items[0] [ items[1] ]
    slice,      // items[0] [ items[1] : items[2] : items[3] ], null where left out
    call,       // items[0] ( the rest, named )
    filter,     // items[0] | text ( the rest, named )
    test,       // items[0] is text ( the rest )
    unary,      // text items[0]: - + not
    binary,     // items[0] text items[1]
    compare,    // items[0] operators[0] items[1] operators[1] items[2] ...
    both,       // items[0] and items[1]
    either,     // items[0] or items[1]
    choice,     // items[1] if items[0] else items[2] (null: undefined)
  };
  Kind kind;
  int line;
  std::string text;
  Value value;
  std::vector<const ExprNode*> items;
  std::vector<std::string> operators;
  std::vector<std::pair<std::string, const ExprNode*>> named;  // arguments
};

struct StatementNode;
using Body = std::vector<const StatementNode*>;

struct MacroNode {
  std::string name;
  std::vector<std::pair<std::string, const ExprNode*>> parameters;  // with defaults, or null
  Body body;
};

struct StatementNode {
  enum class Kind {
    text,        // text
    print,       // value
    branch,      // value, body; otherwise
    loop,        // for targets in value if condition: body; otherwise
    set,         // targets = value; or target = body, through filters
    set_member,  // targets[0].text = value
    macro,       // macro
    group,       // body: {% generation %}
    break_,
    continue_,
  };
  Kind kind;
  int line;
  std::string text;
  const ExprNode* value = nullptr;
  const ExprNode* condition = nullptr;
  std::vector<std::string> targets;
  Body body, otherwise;
  MacroNode macro;
};

struct Template {
  Body body;
  std::deque<ExprNode> expressions;
  std::deque<StatementNode> statements;
};

}  // namespace lumen::text

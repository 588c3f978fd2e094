#include "lumen/egraph/core/host.h"

namespace lumen::egraph {

TableDecl constructor(std::string name, std::vector<SortId> params, const std::vector<Field>& fields, SortId result) {
  TableDecl decl;
  decl.name = std::move(name);
  decl.params = std::move(params);
  for (const Field& field : fields) {
    decl.params.push_back(field.sort);
    decl.field_names.push_back(field.name);
  }
  decl.result = result;
  decl.constructor = true;
  return decl;
}

}  // namespace lumen::egraph

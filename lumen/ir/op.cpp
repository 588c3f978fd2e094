#include "lumen/ir/op.h"

#include <array>

namespace lumen {

namespace {

const void* at(const void* op, const FieldInfo& field) { return static_cast<const std::byte*>(op) + field.offset; }

}  // namespace

std::string_view name(OpFamily family) {
  static constexpr std::array<std::string_view, 14> kNames = {"leaf",   "unary", "binary",   "select", "cast",
                                                              "reduce", "scan",  "view",     "gather", "scatter",
                                                              "sort",   "loop",  "contract", "custom"};
  static_assert(kNames.size() == static_cast<size_t>(OpFamily::custom) + 1);
  return kNames[static_cast<size_t>(family)];
}

bool OpDef::equal(const void* a, const void* b) const {
  for (const FieldInfo& field : fields) {
    if (!field.type->equal(at(a, field), at(b, field))) return false;
  }
  return true;
}

uint64_t OpDef::hash(const void* op) const {
  Hasher hasher;
  hasher.add(name);
  for (const FieldInfo& field : fields) hasher.add(field.type->hash(at(op, field)));
  return hasher.value();
}

OpTable::OpTable(std::initializer_list<const OpDef*> ops) {
  for (const OpDef* op : ops) add(*op);
}

void OpTable::add(const OpDef& op) {
  CHECK(find(op.name) == nullptr, "two ops have the name " + std::string(op.name));
  ops_.push_back(&op);
}

const OpDef* OpTable::find(std::string_view wanted) const {
  for (const OpDef* op : ops_) {
    if (op->name == wanted) return op;
  }
  return nullptr;
}

}  // namespace lumen

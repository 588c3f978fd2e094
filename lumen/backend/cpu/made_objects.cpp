#include "lumen/backend/cpu/made_objects.h"

#include <map>
#include <set>

namespace lumen::cpu {

MadeObjects::Found MadeObjects::find(std::span<const MadeObject::Kernel> wanted) const {
  std::map<std::string, const CacheKey*> keys;  // of what is wanted, by function
  for (const MadeObject::Kernel& kernel : wanted) {
    for (const std::string& name : kernel.functions) keys.emplace(name, &kernel.key);
  }
  Found found;
  std::set<std::string> defined;  // by objects that were found
  const std::scoped_lock lock(mutex_);
  for (const std::shared_ptr<const MadeObject>& object : objects_) {
    std::set<std::string> names;
    bool serves = false, clashes = false;
    for (const MadeObject::Kernel& kernel : object->kernels) {
      for (const std::string& name : kernel.functions) {
        const auto key = keys.find(name);
        const bool same = key != keys.end() && *key->second == kernel.key;
        serves |= same;
        clashes |= defined.contains(name) || (key != keys.end() && !same);
        names.insert(name);
      }
    }
    if (!serves || clashes) continue;
    defined.merge(names);
    found.objects.push_back(object);
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (!defined.contains(wanted[k].functions.front())) found.missing.push_back(k);
  }
  return found;
}

void MadeObjects::add(MadeObject object) {
  const std::scoped_lock lock(mutex_);
  bytes_ += object.bytes.size();
  objects_.push_back(std::make_shared<const MadeObject>(std::move(object)));
  while (bytes_ > kMostBytes && objects_.size() > 1) {
    bytes_ -= objects_.front()->bytes.size();
    objects_.erase(objects_.begin());
  }
}

}  // namespace lumen::cpu

// How much of the machine this process may use, as the operating system tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lumen {

// The cores in the affinity mask, less where a cgroup's quota is smaller; at least 1.
int usable_cores();

// The core that the calling thread is on; -1 where nobody says.
int current_core();
// From now on the calling thread is not on `core`, and may be on `again` once more (-1: none). Returns false, and
// nothing changes, where it has no other core, or nobody says.
bool leave_core(int core, int again);

// The smallest quota, in cores, of the cgroups in `memberships` (the text of /proc/self/cgroup, versions 1 and 2) and
// of the groups around them; nothing where none is set. `root` is where the hierarchies are mounted.
std::optional<double> cgroup_quota(const std::string& root, std::string_view memberships);

// The data cache of this level (1, 2, 3) of the first core; 0 where nobody says.
int64_t cache_bytes(int level);

}  // namespace lumen

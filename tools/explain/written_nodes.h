// From what runs back to what was written.
#pragma once

#include <vector>

#include "lumen/search/record.h"

namespace lumen::tools {

struct WrittenNodes {
  // By node of the chosen program: nodes of the part's body that are equal to it.
  std::vector<std::vector<NodeId>> equal;
  // By call of that program: what it computes of the body, in its order. That are the nodes between those that are
  // equal to what the call gives and those that are equal to what it reads. Of a call that gives what nobody wrote, the
  // nodes of the calls that read it.
  std::vector<std::vector<NodeId>> of_calls;
};

// Equal is what the search found to be so. Nothing when a program was given in place of the search's.
WrittenNodes written_nodes(const search::PartRecord& part);

}  // namespace lumen::tools

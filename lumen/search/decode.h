// Terms as a graph again.
#pragma once

#include <memory>
#include <span>

#include "lumen/egraph/extract/flatten.h"
#include "lumen/search/saturate.h"

namespace lumen {

// The graph whose nodes are the chosen terms (by class of `flat`), verified at llir_stage().
Expected<std::shared_ptr<Graph>> decode(Saturated& saturated, const egraph::Flattened& flat,
                                        std::span<const egraph::NodeId> choice,
                                        std::vector<egraph::ClassId>* classes = nullptr);

}  // namespace lumen

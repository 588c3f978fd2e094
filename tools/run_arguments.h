// The NAME=VALUE arguments of `lumen run`, checked against the graph.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lumen/ir/graph.h"
#include "lumen/ir/random_tensor.h"
#include "tools/commands.h"

namespace lumen::tools {

using NamedTensors = std::map<std::string, HostTensor, std::less<>>;
using FileNames = std::map<std::string, std::string>;
using Ranges = std::map<std::string, ValueRange>;

// "NAME=VALUE", split; neither part empty. `option` is for the message.
Expected<std::pair<std::string, std::string>> parse_assignment(std::string_view option, std::string_view text);
// An error that suggests the nearest when `name` is not among `known`.
Expected<void> require_name(std::string_view what, std::string_view name, std::span<const std::string> known);

// NAME=FILE each, for known names, none twice.
Expected<FileNames> parse_files(std::string_view option, std::string_view what, std::span<const std::string> texts,
                                std::span<const std::string> known);
Expected<DimValues> parse_dims(std::span<const std::string> texts, const Graph& graph);
// NAME=LO..HI each; not for inputs that come from a file.
Expected<Ranges> parse_ranges(std::span<const std::string> texts, const Graph& graph, const NamedTensors& given);

// Every tensor of a .safetensors file.
Expected<NamedTensors> read_tensors(const std::string& file);
// Those of --input and --inputs. Tensors of the latter that are no inputs are ignored, with a note on stderr.
Expected<NamedTensors> read_inputs(const Graph& graph, const RunOptions& options);

}  // namespace lumen::tools

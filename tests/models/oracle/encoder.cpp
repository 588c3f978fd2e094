#include <fmt/format.h>

#include <cmath>

#include "models/model.h"
#include "models/model_files.h"
#include "tests/models/oracle/case.h"

namespace lumen::models {

namespace {

constexpr double kEmbeddingTolerance = 1e-4;  // of an element of an embedding of length 1
constexpr double kLeastCosine = 0.9999;       // of embeddings

// The least cosine between rows of what should be the same.
double least_cosine(const HostTensor& got, const HostTensor& wanted) {
  const auto size = static_cast<size_t>(wanted.dims[1]);
  double least = 1;
  for (size_t row = 0; row < wanted.lanes.size() / size; ++row) {
    double product = 0, left = 0, right = 0;
    for (size_t k = row * size; k < (row + 1) * size; ++k) {
      product += got.lanes[k].f * wanted.lanes[k].f;
      left += got.lanes[k].f * got.lanes[k].f;
      right += wanted.lanes[k].f * wanted.lanes[k].f;
    }
    const double cosine = product / std::sqrt(left * right);
    least = std::isnan(cosine) ? -1 : std::min(least, cosine);
  }
  return least;
}

double largest_error(const HostTensor& got, const HostTensor& wanted) {
  double worst = 0;
  for (size_t k = 0; k < wanted.lanes.size(); ++k) {
    const double difference = std::abs(got.lanes[k].f - wanted.lanes[k].f);
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst;
}

void compare_embeddings(const Case& given, const CompileOptions& options, Counts& counts) {
  const HostTensor tokens = given.expected.tensor("tokens").value();
  ModelFiles files = ModelFiles::open(given.folder).value();
  const Model model = files.build({.batch = tokens.dims[0]}).value();
  Session session = compile(*model.graph, options);
  files.bind(session).value();
  session.set("tokens", tokens);
  session.set("mask", given.expected.tensor("mask").value());
  session.execute();
  const HostTensor wanted = given.expected.tensor("embedding").value();
  const HostTensor got = session.tensor("embedding");
  const double cosine = least_cosine(got, wanted), error = largest_error(got, wanted);
  report(given, "embeddings", cosine > kLeastCosine && error < kEmbeddingTolerance,
         fmt::format("cosine {:.7f}, error {:.2g}", cosine, error), counts);
}

}  // namespace

void compare_encoder(const Case& given, const CompileOptions& options, Counts& counts) {
  try {
    compare_embeddings(given, options, counts);
  } catch (const Error& problem) {
    report(given, "embeddings", false, problem.what(), counts);
  }
}

}  // namespace lumen::models

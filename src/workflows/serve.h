#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/serving.h"
#include "report/paper.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Language models on devices as serving stacks run them.
struct ServeRequest {
  std::vector<std::string> models;    // names or aliases of data/architectures/decoders.yaml, config.json files or their folders,
                                      // graphs of decoders
  std::vector<std::string> hardware;  // ids, aliases, ID@STATE
  estimation::ServingRequest serving;
  std::int64_t gpus = 1;  // of a search: at most so many
  bool search = false;    // over plans, and over concurrencies where `concurrency_given` is false
  bool concurrency_given = false;
  estimation::ServingLimits limits;
  enum class Rank { throughput, latency, energy, memory };
  Rank rank = Rank::throughput;  // of compared points: output tokens/s per GPU, TPOT, joules per output token, memory per GPU
};

struct ServedPoint {
  std::string model, hardware;
  std::optional<core::Error> error;
  std::optional<estimation::ServingEstimate> estimate;  // the plan that was asked for, or the best found
  std::optional<estimation::PlanSearch> search;
};

// Every model on every device; compared points are in order of the rank, those without its figure and then those without an
// estimate last.
// Fails where no point has one.
core::Result<std::vector<ServedPoint>> serve_estimates(const ServeRequest& request, const Services& services);

// A name of data/architectures/decoders.yaml ("zoo:NAME" and owners before a slash are fine), a config.json or a folder with one,
// a graph that recognise_decoder() knows.
core::Result<estimation::DecoderArchitecture> find_served_model(const std::string& name, const Services& services);

report::Paper serving_paper(const std::vector<ServedPoint>& points, const ServeRequest& request);
report::PaperTable serving_table(const std::vector<ServedPoint>& points);
core::Json serving_json(const std::vector<ServedPoint>& points, const ServeRequest& request);

}  // namespace aaco::workflows

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

// Built-in models: the exact layer structure of well-known networks with seeded random weights, so that a named
// model runs without a download. Times depend on structure and shapes, not on trained weights; outputs are meaningless.
namespace aaco::runner::zoo {

using graph::ElementType;

// Distribution of generated weights: uniform in [center - spread, center + spread).
struct Fill {
  double center = 0;
  double spread = 0;
  bool operator==(const Fill&) const = default;
};

// A network as a graph, and what to fill it with.
struct Blueprint {
  graph::Graph graph;
  ElementType type = ElementType::float32;  // of weights and activations
  std::vector<Fill> fills;                  // one per initializer; unused by those with stored data
  std::vector<std::size_t> streams;         // of random numbers, one per initializer; empty: its index
  std::int64_t parameters = 0;              // trained weights, without running statistics and constants
};

// A configurable number of the model: "layers", "hidden".
struct Parameter {
  std::string name;
  std::int64_t value = 0;  // the default
  std::int64_t minimum = 1;
  std::int64_t maximum = 0;
  std::string meaning;
};

struct Config {
  ElementType type = ElementType::float32;     // of weights and activations: float32 or float16
  std::map<std::string, std::int64_t> values;  // Parameter::name -> value, for non-default values
  bool operator==(const Config&) const = default;
};

struct Entry {
  std::string name;     // "resnet50"
  std::string family;   // cnn, transformer, decoder, synthetic
  std::string meaning;  // one line: what it is, whose structure
  std::vector<std::string> aliases;
  std::int64_t published_parameters = 0;  // of the default configuration; 0: not published
  std::vector<Parameter> parameters;
  std::function<core::Result<Blueprint>(const Entry&, const Config&)> build;

  // A parameter's value under `config`. The name is one of this entry's.
  [[nodiscard]] std::int64_t value(const Config& config, std::string_view name) const;
};

const std::vector<Entry>& list();
// By name or alias; the error suggests near names.
core::Result<const Entry*> find(std::string_view name);
// "resnet50", "llama-tiny,layers=4,dtype=float16": an entry and its configuration, as written after "zoo:".
struct Request {
  const Entry* entry = nullptr;
  Config config;
};
core::Result<Request> parse_request(std::string_view text);

// The graph alone, in memory; weights have no data. Refuses values out of range.
core::Result<Blueprint> build_graph(const Entry& entry, const Config& config);

// Disk space and memory needed to store this model and load it in ONNX Runtime on the CPU (factors measured, 1.30).
struct Footprint {
  std::int64_t parameters = 0;
  std::int64_t disk_bytes = 0;
  std::int64_t memory_bytes = 0;  // peak while loading the model; without activations
};
Footprint footprint(const Blueprint& blueprint);

using Progress = std::function<void(std::int64_t done_bytes, std::int64_t total_bytes)>;

// The model's file in `cache_dir`/models, generated if missing: named by the hash of generator version,
// configuration and seed; always complete or absent, even with concurrent makers. Fails with exhausted if the
// disk is too small.
core::Result<std::string> make(const Entry& entry, const Config& config, std::uint64_t seed, const std::string& cache_dir,
                               const Progress& progress = {});

// The path if make() has already generated the model, else empty.
std::optional<std::string> made_path(const Entry& entry, const Config& config, std::uint64_t seed, const std::string& cache_dir);

// Writes the graph with references to weights that do not exist: for predicting models too large for this machine.
core::Status write_structure(const Entry& entry, const Config& config, const std::string& path);

}  // namespace aaco::runner::zoo

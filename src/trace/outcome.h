#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"

namespace aaco::trace {

// The work of one run of the model's graph.
struct OutcomeWork {
  std::optional<double> flops, bytes, node_count;
  core::Json rest;  // what else the document says of the work: an object, or null
};

// What a session did, as `outcome` of session.json has it. Empty members were not measured and are left out of the document.
struct Outcome {
  // Runs and sweeps; of a recorded program its name, of an import nothing.
  std::string model, backend, provider, graph_level;
  std::optional<std::int64_t> batch, threads;
  core::Json inputs;  // list: name, type, shape and origin of the values of each
  std::optional<std::int64_t> warmup_iterations, iterations;
  std::string warmup_ended, measuring_ended;  // why
  std::optional<bool> warmup_stationary;
  std::optional<double> p50_ns;  // median latency, ns
  std::optional<OutcomeWork> work;
  core::Json noise, isolation, sensors;  // objects; null: none

  // Recorded programs.
  std::optional<std::int64_t> process_id, exit_code, wall_ns;

  // Imports: files and their facts, rows by table, files that were not taken, totals that a profiler wrote.
  core::Json files, rows, passed_over, totals;

  // Device work of traces and profiled runs, as workflows/gpu_analysis.h writes it, and the profiler that traced it.
  core::Json gpu, gpu_profile;

  core::Json points;  // of a sweep

  core::Json llm;  // of a measured server: url, connections, server_process_id (null: elsewhere) and the summary's sentence

  // One side of an A/B comparison: "A" or "B", whether both sides shared a process, iterations of each process in order.
  std::string ab_side;
  std::optional<bool> ab_together;
  core::Json ab_process_iterations;

  core::Json rest;  // members that other versions or programs wrote: an object, or null

  // The text members that describe what ran, by their key in the document: model, backend, provider. Empty for other keys.
  [[nodiscard]] std::string text(std::string_view key) const;
};

core::Json to_json(const Outcome& outcome);
// Members of an unexpected type are kept in `rest`, so that nothing of a document is lost.
Outcome outcome_from_json(const core::Json& document);

}  // namespace aaco::trace

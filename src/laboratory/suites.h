#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"

// Benchmark suites: single operators and whole models, as defined in data/benchmarks (docs/formats/benchmarks.md).
namespace aaco::laboratory {

// Determines the columns of a case's table.
enum class CaseKind { gemm, convolution, attention, vector, transfer, model };
std::string_view to_string(CaseKind kind);

struct BenchmarkCase {
  std::string id;      // "gemm float32 k=768 m=1 n=768": ids are stable for a site
  std::string kernel;  // names the table: "gemm", "depthwise", "softmax"
  CaseKind kind = CaseKind::gemm;
  std::string dtype;                          // "float32"
  std::string op;                             // of a vector kernel: "add"; of a transfer its path: "h2d_pinned"
  std::string model;                          // of a workload: a name of models.yaml or of the zoo
  std::map<std::string, std::int64_t> sizes;  // all sizes of the site; for a workload its batch and dimensions

  [[nodiscard]] std::int64_t size(const std::string& name) const { return sizes.at(name); }
};
core::Json to_json(const BenchmarkCase& one);
// Empty if a part is missing or is not a size of its kind.
std::optional<BenchmarkCase> case_from_json(const core::Json& json);

struct BenchmarkSuite {
  std::string name;
  std::int64_t rounds = 1;             // each round visits every case once
  std::int64_t visit_ns = 60'000'000;  // maximum measured time per visit
  double precision_ratio = 0.01;       // or until the median has this precision
  std::vector<BenchmarkCase> cases;
};

// Parses a definition (data/benchmarks/*.yaml); `name` is used in messages.
core::Result<BenchmarkSuite> parse_suite(std::string_view text, const std::string& name);
// "micro", "workloads", "llm", "gpu", "all" (the first two), or a file.
core::Result<std::vector<BenchmarkSuite>> load_suites(const std::string& selection, const core::Paths& paths);

}  // namespace aaco::laboratory

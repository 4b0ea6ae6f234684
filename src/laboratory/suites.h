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

// What is to be measured: single operators and whole models, as data/benchmarks says (docs/formats/benchmarks.md).
namespace aaco::laboratory {

// What decides the columns of a case's table.
enum class CaseKind { gemm, convolution, attention, vector, model };
std::string_view to_string(CaseKind kind);

struct BenchmarkCase {
  std::string id;      // "gemm float32 k=768 m=1 n=768": the same site has the same id for ever
  std::string kernel;  // names the table: "gemm", "depthwise", "softmax"
  CaseKind kind = CaseKind::gemm;
  std::string dtype;                          // "float32"
  std::string op;                             // of a vector kernel: "add"
  std::string model;                          // of a workload: a name of models.yaml or of the zoo
  std::map<std::string, std::int64_t> sizes;  // of the site, every one of its kind; a workload's batch and dimensions

  [[nodiscard]] std::int64_t size(const std::string& name) const { return sizes.at(name); }
};
core::Json to_json(const BenchmarkCase& one);
// Empty where a part is missing or no size of its kind.
std::optional<BenchmarkCase> case_from_json(const core::Json& json);

struct BenchmarkSuite {
  std::string name;
  std::int64_t rounds = 1;             // every case is visited once in each
  std::int64_t visit_ns = 60'000'000;  // measured a visit at most
  double precision_ratio = 0.01;       // or until the median is known this well
  std::vector<BenchmarkCase> cases;
};

// A definition (data/benchmarks/*.yaml); `name` stands in messages.
core::Result<BenchmarkSuite> parse_suite(std::string_view text, const std::string& name);
// "micro", "workloads", "llm", "all" (the first two), or a file of one's own.
core::Result<std::vector<BenchmarkSuite>> load_suites(const std::string& selection, const core::Paths& paths);

}  // namespace aaco::laboratory

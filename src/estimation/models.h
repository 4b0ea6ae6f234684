#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "estimation/analysis.h"
#include "estimation/calibrated.h"
#include "estimation/device_facts.h"
#include "estimation/memory.h"

// Whole models: how long all their kernels take by the device's specification, sorted by what bounds them, and the few
// coefficients that measured models give those sums. docs/estimation.md ("Whole models") has the form and the reasons.
namespace aaco::estimation {

// The terms of one run of a model.
struct ModelTerms {
  std::array<double, kTerms> seconds{};
  bool training = false;  // forwards and backwards; the sums hold both
  double& operator[](Term term) { return seconds[static_cast<std::size_t>(term)]; }
  double operator[](Term term) const { return seconds[static_cast<std::size_t>(term)]; }
  [[nodiscard]] double roofline() const;  // all but issue and update
  bool operator==(const ModelTerms&) const = default;
};

// A product onto so many columns is a wide one.
inline constexpr std::int64_t kWideColumns = 40'000;

// Of an analysed graph; its nodes' work is taken as it is, fused or not. `cost`: of the same graph, for what is weights.
ModelTerms terms_of(const GraphEstimate& graph, const graph::GraphCost& cost, const hardware::Device& device);

// A transformer by its sizes, as frameworks run it without a compiler: every elementwise step is a kernel that reads and writes.
struct Transformer {
  std::string name;
  std::vector<std::string> aliases;
  std::int64_t layers = 0, hidden = 0, heads = 0, inner = 0, vocabulary = 0;
  bool joint_projection = false;      // queries, keys and values in one product
  bool head = false;                  // a product onto the vocabulary for every token
  std::int64_t score_steps = 0;       // elementwise steps on the scores besides the softmax
  std::int64_t activation_steps = 1;  // elementwise kernels of the activation
  [[nodiscard]] double parameters() const;
};
// data/architectures/transformers.yaml.
core::Result<std::vector<Transformer>> load_transformers(const std::string& path);
// Fails with unsupported where the device has no peak for the type, with invalid_argument for sizes below 1.
core::Result<ModelTerms> terms_of(const Transformer& model, std::int64_t batch, std::int64_t tokens, bool training,
                                  const std::string& type, const DeviceFacts& device);

// Terms of MemoryTerm, in bytes. `kernels`: how many the runtime makes of the graph.
ModelTerms memory_terms_of(const graph::GraphCost& cost, const MemoryEstimate& memory, std::size_t kernels);
// Of ONNX Runtime on a CPU.
std::array<double, kTerms> usual_memory_coefficients();

// A measured model.
struct ModelSample {
  std::string model;   // all rows of one are held out together
  std::string device;  // devices that are fitted together have a factor each
  std::string group;   // judged together: "inference fp32"
  ModelTerms terms;
  double seconds = 0;  // or bytes, where the terms are of memory
};

// Coefficients as they are usual for a kind of device; a fit with few rows stays near them. `eager`: a framework issues kernel by
// kernel, else a runtime that has planned ahead.
std::array<double, kTerms> usual_coefficients(const DeviceFacts& device, bool eager);

// Least squares of logarithms, large residuals counting linearly, drawn towards the usual coefficients; bounds and quality from
// leaving one model out each time. Fails with invalid_input without samples or where one has no work.
core::Result<ModelFit> fit_models(std::span<const ModelSample> samples, const std::array<double, kTerms>& usual);

// The usual coefficients as a fit that no measurement stands behind: a factor of two either way.
ModelFit untested_fit(const std::array<double, kTerms>& usual);

struct ModelEstimate {
  double seconds = 0, lower = 0, upper = 0;
};
ModelEstimate estimate_model(const ModelFit& fit, const ModelTerms& terms, const std::string& device);

}  // namespace aaco::estimation

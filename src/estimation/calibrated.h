#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "estimation/device_facts.h"
#include "estimation/energy_estimate.h"
#include "estimation/kernel.h"
#include "estimation/latency.h"
#include "estimation/roofline.h"
#include "stats/boosted_trees.h"

// What was fitted to measurements of a device, and how estimates come from it. docs/formats/calibration.md has the file.
namespace aaco::estimation {

// The best that was reached: an estimate is never faster. 0: not seen.
struct Ceilings {
  double flops_per_s = 0;
  double bytes_per_s = 0;         // of kernels whose operands do not fit the largest cache
  double cached_bytes_per_s = 0;  // of those that do
  double floor_s = 0;             // what next to no work takes
  bool operator==(const Ceilings&) const = default;
};

// A 90 % interval: the scale of log(measured / estimate) follows from the features, its quantiles were taken over sites that a
// fit had not seen (split conformal: Lei et al., Distribution-Free Predictive Inference for Regression, 2018).
struct Bounds {
  stats::BoostedTrees log_scale;
  double low = 0, high = 0;     // in scales
  bool below_ceilings = false;  // some rows did less work than their shape says (a window): the low end may pass the ceilings
  // Where others measure with other software: added in quadrature to either end of the logarithm. 0: one's own measurements.
  double elsewhere = 0;
  bool operator==(const Bounds&) const = default;
};

// How good a fit is on whole sites it had not seen.
struct Quality {
  std::int64_t rows = 0, sites = 0;
  double mean_error = 0, median_error = 0, p90_error = 0;  // of |estimate / measured - 1|
  double bias = 0;                                         // mean of estimate / measured - 1
  [[nodiscard]] bool tested() const { return sites > 1; }  // of one site alone nothing is left unseen: the errors mean nothing
  bool operator==(const Quality&) const = default;
};

// What a fit has seen, by the specification's roofline and by the time to compute over the time to move: beyond it trees answer
// as at its edge. All 0: not known.
struct Extent {
  double least_seconds = 0, most_seconds = 0;
  double least_intensity = 0, most_intensity = 0;
  bool operator==(const Extent&) const = default;
};

// What a stack's kernel takes in the mean: floor + compute x the specification's time to compute + memory x that to move.
struct ProgramCost {
  double floor_s = 0, compute = 1, memory = 1;
  bool operator==(const ProgramCost&) const = default;
};

// The time of one kind of kernel in one type on one device.
struct LatencyModel {
  std::string kind, type;
  Ceilings ceilings;
  Extent extent;
  std::vector<std::string> operators;           // of vector kernels, or kernels of stacks, numbered by their place
  std::vector<ProgramCost> programs;            // of kernels of stacks, which the trees correct; else empty
  std::map<std::string, std::int64_t> classes;  // rows by class_of(): phases of attention, batched products; empty: not known
  std::vector<stats::BoostedTrees> trees;       // each answers log(time / nominal_seconds()); their mean counts
  Bounds bounds;
  Quality quality;
  bool operator==(const LatencyModel&) const = default;
};

// Energy of a kernel whose time is known: static power, and energy per operation and byte; trees say how far from that.
struct EnergyModel {
  double static_watts = 0, joules_per_flop = 0, joules_per_byte = 0;
  std::vector<stats::BoostedTrees> trees;  // of log(measured / three components)
  Bounds bounds;
  Quality quality;
  bool operator==(const EnergyModel&) const = default;
};

// What the time of whole models is made of, in seconds at the specification's rates; coefficients are near one and positive.
// docs/estimation.md ("Whole models") has the form and the reasons.
enum class Term : std::uint8_t {
  product,      // products and attention: computing (on a GPU the longer of computing and moving)
  convolution,  // the same of convolutions
  wide,         // products onto a vocabulary: libraries choose other kernels for rows of tens of thousands
  weights,      // on a CPU: weights that are read while others are computed with
  streamed,     // on a CPU: weights that take longer to read than to compute with
  operands,     // on a CPU: what else products and convolutions read and write
  grouped,      // convolutions with one channel a group: the longer of computing and moving
  moved,        // everything else with work: bytes
  issue,        // a microsecond of the host for each kernel
  update,       // training: a pass over all parameters
};
inline constexpr std::size_t kTerms = 10;
std::string_view to_string(Term term);

// What a runtime holds for a model at most, in bytes: fitted in the same form, in places of its own.
enum class MemoryTerm : std::uint8_t {
  product_weights = 0,      // packed anew for its kernels, beside the file's own
  convolution_weights = 1,  // reordered as well
  other_weights = 2,        // tables that are only looked up
  cache = 3,                // keys and values that come in and go out
  activations = 6,          // live at the worst moment, the cache aside
  nodes = 8,                // nominally 1 kB each
  runtime = 9,              // nominally 1 MB
};
std::string_view to_string(MemoryTerm term);  // empty for places that are no term

// Few coefficients fitted to measured models (estimation/models.h).
struct ModelFit {
  std::array<double, kTerms> coefficients{};
  std::map<std::string, double> devices;  // factor of each device that was seen; of others 1
  double training = 1;                    // further factor where a model is trained
  double low = 0, high = 0;               // 90 % bounds of log(measured / estimate), over models the fit had not seen
  Quality quality;                        // on models it had not seen
  bool operator==(const ModelFit&) const = default;
};

// Where a calibration is from.
struct Provenance {
  std::string tool_version, created;      // RFC 3339
  std::vector<std::string> measurements;  // file names with their hashes
  std::vector<std::string> sources;       // who measured, as the files say
  std::vector<std::string> licences;      // of those measurements, one line each; empty: one's own
  bool operator==(const Provenance&) const = default;
};

struct DeviceCalibration {
  std::string device;    // id of the registry
  bool compact = false;  // trees are rounded, and stored so
  Provenance provenance;
  std::vector<LatencyModel> latency;
  std::map<std::string, EnergyModel> energy;  // by energy_class_of()
  std::map<std::string, ModelFit> models;     // of whole models: "transformer fp32", "onnxruntime network fp32"
  std::map<std::string, ModelFit> memory;     // peak memory in bytes, of MemoryTerm, by the same families
};

// "gemm bf16"; batched products and vector operators are classes of their own ("batched gemm fp32", "softmax fp32").
std::string class_of(const Kernel& kernel);
// Whether the model was fitted to rows of the kernel's class; taken to be where that is not known.
bool saw_class(const LatencyModel& model, const Kernel& kernel);
// Whether the work, as the device's roofline has it, is at most twice or half of what the model was fitted to, in time and in
// operations a byte. True where that is not known.
bool saw_size(const LatencyModel& model, const Roofline& roof);
// What is fitted together: "gemm bf16", batched products among them; "vector fp32".
std::string energy_class_of(const Kernel& kernel);

class CalibrationFile;

// The calibrations at hand. Devices are described so that estimates for a device without one can be carried over.
class CalibrationSet {
 public:
  // Replaces a calibration of the same device.
  void add(DeviceCalibration calibration, DeviceFacts facts);
  // Of a file, what is asked for is read when it is.
  void add(const CalibrationFile& file, DeviceFacts facts);
  // The same behind what the set has of that device already: it counts for classes which that does not have.
  void add_behind(const CalibrationFile& file, const DeviceFacts& facts);

  struct Entry {
    // Of files: without trees, which with_trees() reads; first the classes of the first file.
    DeviceCalibration calibration;
    DeviceFacts facts;
    std::vector<std::shared_ptr<const CalibrationFile>> files;  // empty: none

    // The same model, of this entry, with what it learnt. Lives as long as the entry.
    [[nodiscard]] core::Result<const LatencyModel*> with_trees(const LatencyModel& model) const;
    [[nodiscard]] const Provenance& provenance_of(const LatencyModel& model) const;
    [[nodiscard]] core::Result<const EnergyModel*> with_trees(const std::string& name) const;
  };
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }
  // The model of the kernel's kind and type, else of another type with the same element, and its entry; empty: none. A model of
  // fewer sites than kTestedSites was never tried on one it had not seen: a tested one of another type goes before it, and to
  // another device (`lent`) it says nothing.
  struct Found {
    const Entry* entry;
    const LatencyModel* model;
  };
  static constexpr int kTestedSites = 3;
  [[nodiscard]] std::optional<Found> find(std::string_view device, const Kernel& kernel, bool lent = false) const;
  // The first error that reading a file's trees met. The estimate that asked for them failed with it.
  [[nodiscard]] core::Status status() const;
  // Only these devices lend to others; empty: all.
  void lend_only(std::vector<std::string> devices) { lenders_ = std::move(devices); }
  [[nodiscard]] const std::vector<std::string>& lenders() const { return lenders_; }

 private:
  std::map<std::string, Entry> entries_;
  std::vector<std::string> lenders_;
};

// Energy of a kernel that takes `seconds`. Unsupported where the device has no energy of this class: neither the coefficients of
// another data type nor those of another device hold for it (docs/results.md).
core::Result<EnergyEstimate> energy_of(const Kernel& kernel, const DeviceFacts& device, double seconds,
                                       const CalibrationSet& set);

// The same where the time is itself an estimate; the level is the worse of both. What work takes longer draws no more power, so
// an error of the time moves the energy in proportion at most: log E is off by the model's error at the true time and by at most
// that of log t. On held sites the two do not correlate (docs/results.md), so the ends of both intervals add in quadrature.
core::Result<EnergyEstimate> energy_of(const Kernel& kernel, const DeviceFacts& device, const LatencyEstimate& latency,
                                       const CalibrationSet& set);

}  // namespace aaco::estimation

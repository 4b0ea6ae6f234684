#include "estimation/serving/operator_times.h"

#include <algorithm>

#include "estimation/latency.h"
#include "estimation/roofline.h"

namespace aaco::estimation {
namespace {

// On sites that the fit had not seen: a worse one is no better than the specification's rates (docs/results.md).
constexpr double kMaxError = 0.15;

// Of products. MI308X's 165 rows in BF16 are of at most 15 MB for one token and reach a third of the bandwidth: lent to products
// of 180 MB, they made decoding of a 7B model on MI250X twice as long as it is.
constexpr std::int64_t kLendingRows = 1000;

// Stacks pad the tokens of a step to aligned sizes. FP8 products of one row more than a multiple of 256 took 1.1 to 2 times as
// long (H100), and tables have nothing in between, so that a fit takes every other number of rows for such a one.
constexpr std::int64_t kAlignedRows = 256;

std::int64_t padded(std::int64_t rows) {
  for (const std::int64_t size : {1, 2, 4, 8})
    if (rows <= size) return size;
  return (rows + 15) / 16 * 16;
}

constexpr double kBusyShare = 0.3;  // of a product's time, at least

// Weights of a serving stack's types as tables of measurements name them, where the device widens four bits.
std::string widened_name(const std::string& type, const DeviceFacts& device) {
  if (type == "int4") return "int4_wo";
  const bool four_bits = type == "mxfp4" || type == "nvfp4" || type == "fp4";
  return four_bits && !device.flops_per_s.contains("fp4") ? "w4a16_mxfp4" : type;
}

}  // namespace

// A fit of another variant of the type is of no use here: H200's products in blocks were issued in several steps of 50 us.
std::optional<Level> OperatorTimes::level_of(const Kernel& kernel) const {
  std::optional<Level> best;
  const bool product = std::holds_alternative<GemmShape>(kernel.shape);
  for (const auto& [id, entry] : fits_->entries()) {
    if (entry.facts.vendor != device_.vendor || !same_class(entry.facts, device_)) continue;
    const bool own = id == device_.id;
    const auto roof = roofline(kernel, entry.facts);
    const auto& models = entry.calibration.latency;
    const bool measured = roof && std::any_of(models.begin(), models.end(), [&](const LatencyModel& model) {
                            return model.kind == kind_of(kernel) && model.type == kernel.type &&
                                   model.quality.sites >= CalibrationSet::kTestedSites && model.quality.mean_error <= kMaxError &&
                                   (own || !product || (model.quality.rows >= kLendingRows && saw_size(model, *roof)));
                          });
    if (measured && own) return Level::calibrated;
    if (measured) best = Level::interpolated;
  }
  return best;
}

// Of 16-bit types, the one whose kernels were measured: what moves as many bytes takes as long.
OperatorTimes::Measured OperatorTimes::measured_as(const Kernel& kernel) const {
  const auto asked = level_of(kernel);
  if (asked == Level::calibrated || (kernel.type != "bf16" && kernel.type != "fp16")) return {kernel.type, asked};
  Kernel other = kernel;
  other.type = kernel.type == "bf16" ? "fp16" : "bf16";
  const auto theirs = level_of(other);
  return theirs == Level::calibrated || !asked ? Measured{other.type, theirs} : Measured{kernel.type, asked};
}

std::optional<double> OperatorTimes::seconds(Kernel kernel) const {
  if (fits_ == nullptr) return std::nullopt;
  auto* product = std::get_if<GemmShape>(&kernel.shape);
  if (product == nullptr) return at(std::move(kernel));
  const std::int64_t rows = product->m;
  if (rows <= kAlignedRows) {
    product->m = padded(rows);
    return at(std::move(kernel));
  }
  const std::int64_t below = rows / kAlignedRows * kAlignedRows;
  product->m = below;
  const auto least = at(kernel);
  if (!least || below == rows) return least;
  product->m = below + kAlignedRows;
  const auto most = at(std::move(kernel));
  const double part = static_cast<double>(rows - below) / static_cast<double>(kAlignedRows);
  return most ? std::optional(*least + part * (*most - *least)) : least;
}

std::optional<double> OperatorTimes::at(Kernel kernel) const {
  kernel.type = widened_name(kernel.type, device_);
  if (has_programs(kind_of(kernel))) kernel.program = stack_;
  const auto [type, level] = measured_as(kernel);
  kernel.type = type;
  const auto made = level ? std::optional(estimate(kernel, device_, fits_, *level)) : std::nullopt;
  if (!made || !*made || (*made)->level == Level::theoretical) return std::nullopt;
  // Captured graphs issue the next kernel while one runs: the launch is a term of its own there.
  const double floor = std::holds_alternative<GemmShape>(kernel.shape) ? (*made)->explanation.floor_s : 0;
  return std::max((*made)->seconds - floor, (*made)->seconds * kBusyShare);
}

}  // namespace aaco::estimation

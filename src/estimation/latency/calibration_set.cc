#include <algorithm>
#include <utility>

#include "core/check.h"
#include "estimation/calibrated.h"
#include "estimation/calibration_file.h"

namespace aaco::estimation {
std::string class_of(const Kernel& kernel) {
  std::string name(kind_of(kernel));
  if (const auto* gemm = std::get_if<GemmShape>(&kernel.shape); gemm != nullptr && gemm->batch > 1) name = "batched gemm";
  if (const auto* vector = std::get_if<VectorShape>(&kernel.shape)) name = vector->op;
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.shape))
    name = attention->prefill ? "prefill attention" : "decode attention";
  return name + " " + kernel.type;
}

std::string energy_class_of(const Kernel& kernel) { return std::string(kind_of(kernel)) + " " + kernel.type; }

void CalibrationSet::add(DeviceCalibration calibration, DeviceFacts facts) {
  const std::string id = calibration.device;
  entries_.insert_or_assign(id, Entry{std::move(calibration), std::move(facts), nullptr});
}

void CalibrationSet::add(const CalibrationFile& file, DeviceFacts facts) {
  entries_.insert_or_assign(file.head().device, Entry{file.head(), std::move(facts), std::make_shared<CalibrationFile>(file)});
}

core::Result<const LatencyModel*> CalibrationSet::Entry::with_trees(const LatencyModel& model) const {
  const auto place = static_cast<std::size_t>(&model - calibration.latency.data());
  AACO_CHECK(place < calibration.latency.size());
  if (file == nullptr) return &model;
  return file->latency(place);
}

core::Result<const EnergyModel*> CalibrationSet::Entry::with_trees(const std::string& name) const {
  if (file == nullptr) return &calibration.energy.at(name);
  return file->energy(name);
}

core::Status CalibrationSet::status() const {
  for (const auto& [id, entry] : entries_)
    if (entry.file != nullptr) AACO_TRY(entry.file->status());
  return {};
}

std::optional<CalibrationSet::Found> CalibrationSet::find(std::string_view device, const Kernel& kernel, bool lent) const {
  const auto entry = entries_.find(std::string(device));
  if (entry == entries_.end()) return std::nullopt;
  const std::string_view kind = kind_of(kernel);
  const auto operands = operands_of(kernel.type);
  const auto* vector = std::get_if<VectorShape>(&kernel.shape);
  const LatencyModel *best = nullptr, *untested = nullptr;
  bool best_alike = false;
  for (const LatencyModel& model : entry->second.calibration.latency) {
    if (model.kind != kind) continue;
    const bool tested = model.quality.sites >= kTestedSites;
    if (lent && !tested) continue;
    const auto& operators = model.operators;
    if (vector != nullptr && std::find(operators.begin(), operators.end(), vector->op) == operators.end()) continue;
    if (model.type == kernel.type && tested) return Found{&entry->second, &model};
    if (model.type == kernel.type) untested = &model;
    const auto theirs = operands_of(model.type);
    if (!tested || !operands || !theirs || theirs->computed != operands->computed) continue;
    // Of those that compute in the same element, one with operands of the same widths before one with more rows.
    const bool alike = theirs->bytes == operands->bytes && theirs->weight_bytes == operands->weight_bytes;
    if (best != nullptr && std::pair(alike, model.quality.rows) <= std::pair(best_alike, best->quality.rows)) continue;
    best = &model;
    best_alike = alike;
  }
  if (best == nullptr) best = untested;
  if (best == nullptr) return std::nullopt;
  return Found{&entry->second, best};
}

}  // namespace aaco::estimation

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
  if (const auto* latent = std::get_if<LatentAttentionShape>(&kernel.shape))
    name = latent->prefill ? "prefill latent attention" : "decode latent attention";
  if (const auto* collective = std::get_if<CollectiveShape>(&kernel.shape)) name = collective->op;
  return name + " " + kernel.type;
}

bool saw_class(const LatencyModel& model, const Kernel& kernel) {
  return model.classes.empty() || model.classes.contains(class_of(Kernel{kernel.shape, model.type}));
}

namespace {

// Prefill and decoding are different kernels: a fit of one says nothing of the other. Of what is not known it is taken to.
bool saw_phase(const LatencyModel& model, const Kernel& kernel) {
  return !std::holds_alternative<AttentionShape>(kernel.shape) || saw_class(model, kernel);
}

}  // namespace

std::string energy_class_of(const Kernel& kernel) { return std::string(kind_of(kernel)) + " " + kernel.type; }

void CalibrationSet::add(DeviceCalibration calibration, DeviceFacts facts) {
  const std::string id = calibration.device;
  entries_.insert_or_assign(id, Entry{std::move(calibration), std::move(facts), {}});
}

void CalibrationSet::add(const CalibrationFile& file, DeviceFacts facts) {
  entries_.insert_or_assign(file.head().device, Entry{file.head(), std::move(facts), {std::make_shared<CalibrationFile>(file)}});
}

void CalibrationSet::add_behind(const CalibrationFile& file, const DeviceFacts& facts) {
  const auto found = entries_.find(file.head().device);
  if (found == entries_.end()) return add(file, facts);
  AACO_CHECK(!found->second.files.empty());
  DeviceCalibration& into = found->second.calibration;
  const DeviceCalibration& more = file.head();
  into.latency.insert(into.latency.end(), more.latency.begin(), more.latency.end());
  into.energy.insert(more.energy.begin(), more.energy.end());
  into.models.insert(more.models.begin(), more.models.end());
  into.memory.insert(more.memory.begin(), more.memory.end());
  found->second.files.push_back(std::make_shared<CalibrationFile>(file));
}

core::Result<const LatencyModel*> CalibrationSet::Entry::with_trees(const LatencyModel& model) const {
  auto place = static_cast<std::size_t>(&model - calibration.latency.data());
  AACO_CHECK(place < calibration.latency.size());
  for (const auto& file : files) {
    if (place < file->head().latency.size()) return file->latency(place);
    place -= file->head().latency.size();
  }
  return &model;
}

const Provenance& CalibrationSet::Entry::provenance_of(const LatencyModel& model) const {
  auto place = static_cast<std::size_t>(&model - calibration.latency.data());
  for (const auto& file : files) {
    if (place < file->head().latency.size()) return file->head().provenance;
    place -= file->head().latency.size();
  }
  return calibration.provenance;
}

core::Result<const EnergyModel*> CalibrationSet::Entry::with_trees(const std::string& name) const {
  for (const auto& file : files)
    if (file->head().energy.contains(name)) return file->energy(name);
  return &calibration.energy.at(name);
}

core::Status CalibrationSet::status() const {
  for (const auto& [id, entry] : entries_)
    for (const auto& file : entry.files) AACO_TRY(file->status());
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
    if ((lent && !tested) || !saw_phase(model, kernel)) continue;
    const auto& operators = model.operators;
    if (vector != nullptr && std::find(operators.begin(), operators.end(), vector->op) == operators.end()) continue;
    if (model.type == kernel.type && tested) return Found{&entry->second, &model};
    if (model.type == kernel.type && untested == nullptr) untested = &model;
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

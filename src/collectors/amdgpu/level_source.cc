#include "collectors/amdgpu/level_source.h"

#include "collectors/amdgpu/sysfs_text.h"
#include "core/files.h"

namespace aaco::collectors::amdgpu {
namespace {

constexpr int kGiveUpAfter = 20;

}  // namespace

core::Status LevelSource::open(const SysRoot& root, const Target&) {
  std::optional<core::Error> refused;
  for (LevelSpec& spec : specs_) {
    auto file = probe::ProbeFile::open(root.at(spec.path));
    if (!file) {
      if (file.error().code == core::ErrorCode::permission) refused = std::move(file).error();
      continue;
    }
    std::string trouble = name_ + ": " + core::base_name(spec.path) + " has no valid value";
    levels_.push_back({std::move(*file), std::move(spec), std::move(trouble), 0, {}});
  }
  if (!levels_.empty()) return {};
  if (refused) return tl::unexpected<core::Error>(*std::move(refused));
  return core::fail(core::ErrorCode::unsupported, "the driver provides none of these files for this device");
}

void LevelSource::intern(trace::Sink& sink) {
  source_ = sink.name(name_);
  for (Level& level : levels_) level.metric = sink.name(level.spec.metric);
}

void LevelSource::sample(probe::Emitter& out) {
  char buffer[4096];  // sysfs gives a page at most
  for (Level& level : levels_) {
    if (level.failures >= kGiveUpAfter) continue;
    const auto text = level.file.read(buffer);
    const auto value = text ? level.spec.parse(*text) : std::nullopt;
    if (value) {
      out.gpu(level.metric, source_, device_, *value * level.spec.unit);
      level.failures = 0;
    } else {
      out.drop(level.trouble);
      ++level.failures;
    }
  }
}

core::Status SumSource::open(const SysRoot& root, const Target&) {
  for (const std::string& path : paths_)
    if (auto file = probe::ProbeFile::open(root.at(path))) files_.push_back(std::move(*file));
  if (files_.empty()) return core::fail(core::ErrorCode::unsupported, "the driver provides no error counts for this device");
  return {};
}

void SumSource::intern(trace::Sink& sink) {
  source_ = sink.name(name_);
  correctable_ = sink.name("gpu.ecc_correctable_count");
  uncorrectable_ = sink.name("gpu.ecc_uncorrectable_count");
}

void SumSource::sample(probe::Emitter& out) {
  char buffer[4096];
  std::optional<double> correctable, uncorrectable;
  for (probe::ProbeFile& file : files_) {
    const auto text = file.read(buffer);
    const auto ce = text ? parse_correctable(*text) : std::nullopt;
    const auto ue = text ? parse_uncorrectable(*text) : std::nullopt;
    if (!ce && !ue) out.drop(name_ + ": an error count has no valid value");
    if (ce) correctable = correctable.value_or(0) + *ce;
    if (ue) uncorrectable = uncorrectable.value_or(0) + *ue;
  }
  if (correctable) out.gpu(correctable_, source_, device_, *correctable);
  if (uncorrectable) out.gpu(uncorrectable_, source_, device_, *uncorrectable);
}

}  // namespace aaco::collectors::amdgpu

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/probe/probe_file.h"
#include "collectors/probe/source.h"

namespace aaco::collectors::amdgpu {

// A file that holds one value.
struct LevelSpec {
  std::string path;    // below the file-system root
  std::string metric;  // "gpu.power_watts"
  double unit = 1;     // what one count of the file is worth
  std::optional<double> (*parse)(std::string_view) = nullptr;
};

// Files of one device, read together and emitted as they are. Files that are not there are left out.
class LevelSource final : public probe::Source {
 public:
  LevelSource(std::string name, std::int64_t device, std::vector<LevelSpec> specs)
      : name_(std::move(name)), device_(device), specs_(std::move(specs)) {}
  [[nodiscard]] std::string name() const override { return name_ + " of GPU " + std::to_string(device_); }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  struct Level {
    probe::ProbeFile file;
    LevelSpec spec;
    std::string trouble;  // "amdgpu.hwmon: power1_average gives no value"
    int failures = 0;     // in a row; a file that never answers is given up
    trace::NameId metric;
  };
  std::string name_;
  std::int64_t device_;
  std::vector<LevelSpec> specs_;
  std::vector<Level> levels_;
  trace::NameId source_;
};

// The sum over several files: error counts of all the blocks of a chip.
class SumSource final : public probe::Source {
 public:
  SumSource(std::string name, std::int64_t device, std::vector<std::string> paths)
      : name_(std::move(name)), device_(device), paths_(std::move(paths)) {}
  [[nodiscard]] std::string name() const override { return name_ + " of GPU " + std::to_string(device_); }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;

 private:
  std::string name_;
  std::int64_t device_;
  std::vector<std::string> paths_;
  std::vector<probe::ProbeFile> files_;
  trace::NameId source_, correctable_, uncorrectable_;
};

}  // namespace aaco::collectors::amdgpu

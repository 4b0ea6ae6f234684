#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/positional_bytes.h"
#include "core/result.h"
#include "estimation/calibrated.h"

// A device's calibration as a file: a head that a person can read, and for each class a section of what was learnt, which is read
// when an estimate asks for the class. docs/formats/calibration.md has the layout.
namespace aaco::estimation {

// The same calibration gives the same bytes.
std::string to_bytes(const DeviceCalibration& calibration);

// The head: everything but what the trees hold.
core::Json to_json(const DeviceCalibration& calibration);

// Of a section, for people: where it lies, and how much it holds.
struct SectionSize {
  std::string name;  // "gemm bf16", "energy of gemm bf16"
  std::uint64_t bytes = 0;
  std::size_t members = 0, trees = 0;
};

class CalibrationFile {
 public:
  // Reads the head alone. invalid_input where it is damaged or the file was cut off, unsupported where it is of another release;
  // each names the file and the remedy.
  static core::Result<CalibrationFile> open(core::PositionalBytes bytes);

  // All but the trees.
  [[nodiscard]] const DeviceCalibration& head() const;
  // By the place in head().latency, or the name in head().energy: with the trees, which are read and checked on the first call.
  // Lives as long as any copy of this. Thread-safe.
  [[nodiscard]] core::Result<const LatencyModel*> latency(std::size_t place) const;
  [[nodiscard]] core::Result<const EnergyModel*> energy(const std::string& name) const;
  // With all trees.
  [[nodiscard]] core::Result<DeviceCalibration> whole() const;
  [[nodiscard]] std::vector<SectionSize> sections() const;
  // The first error that reading a section met: an estimate went without what it asked for.
  [[nodiscard]] core::Status status() const;

 private:
  struct State;
  explicit CalibrationFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace aaco::estimation

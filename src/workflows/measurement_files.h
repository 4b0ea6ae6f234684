#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "estimation/calibration.h"
#include "hardware/registry.h"

namespace aaco::workflows {

// A whole model measured on a device, from files of the kinds "models" and "e2e".
struct ModelRun {
  std::string model, type, profile, mode, option;
  std::string runtime;  // "onnxruntime": nodes are fused as it does; empty: an eager framework
  std::int64_t batch = 1, sequence = 0;
  double flops = 0, bytes = 0;  // 0: the file does not say
  double seconds = 0;
  std::optional<double> memory_bytes;  // most that was resident above what was before loading
  std::string where;
};

struct DeviceMeasurements {
  std::vector<estimation::Measurement> kernels;
  std::vector<ModelRun> models;
};

struct MeasurementFiles {
  std::map<std::string, DeviceMeasurements> devices;  // by id of the registry, with "@STATE" where the name says one
  std::vector<std::string> files;                     // NAME sha256:HASH
  std::vector<std::string> sources;                   // who measured, as the files say
  std::int64_t rows = 0;                              // read
  std::int64_t failed = 0;                            // left out: their time is infinite, which is how failed runs are written
  std::int64_t transfers = 0;                         // left out: they are no kernels
  std::int64_t without_output = 0;                    // left out: convolutions whose filter exceeds their padded input
  std::string first_without_output;                   // where the first of them stands
  struct Stranger {
    std::int64_t rows = 0;
    std::string first;  // where it stands
  };
  std::map<std::string, Stranger> strangers;  // left out, by the name that the rows say: devices that the registry does not have

  // What was left out, for people.
  [[nodiscard]] std::vector<std::string> notes() const;
};

// "1 row", "2 rows".
std::string rows_text(std::int64_t count);

// How many rows were left out because they are impossible, and the worst of them, for people.
std::string describe(const estimation::ImpossibleRows& rejected, const std::vector<estimation::Measurement>& rows);
// Classes that were left out because the device has no peak for them.
std::string describe(const estimation::RowsWithoutPeak& unrated, const std::vector<estimation::Measurement>& rows,
                     const std::string& device);
// What was measured, where it is not what was asked for.
std::string devices_text(const MeasurementFiles& files);

// Reads CSV files, gzip or zstd seen through; which kind of measurement one holds follows from its columns (docs/formats/
// calibration.md). A missing column, a row without a device or whose name fits several, a type that is unknown, a time or power
// that is no positive number or impossible, a size that is none and a file that is cut are errors with file and line.
core::Result<MeasurementFiles> read_measurements(const std::vector<std::string>& paths, const hardware::DeviceRegistry& registry);

// The same of a text; `name` stands in messages.
core::Status read_measurements(std::string_view text, const std::string& name, const hardware::DeviceRegistry& registry,
                               MeasurementFiles& into);

}  // namespace aaco::workflows

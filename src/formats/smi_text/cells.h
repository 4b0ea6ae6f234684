#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/smi_text.h"

// A layout's job is to say which value stands under which name for which device; what the name means is metrics.cc's.
namespace aaco::formats::smi_text {

// Collects the named values of a log.
class Cells {
 public:
  explicit Cells(Log& log) : log_(log) {}
  // The values that follow are of this device; a device that comes again begins a new snapshot of it.
  void begin_device(std::int64_t device);
  void select_device(std::int64_t device) { device_ = device; }
  // Values from here on were taken then.
  void set_time(std::optional<std::int64_t> realtime_ns) { time_ns_ = realtime_ns; }
  // A line among a table's rows that is none.
  void pass_line() { ++log_.unread_lines; }
  // `path` is the name with what encloses it ("clock.gfx_0.clk"), as it stands; `unit` where a heading gives it.
  void add(std::string_view path, std::string_view value, std::string_view unit = {});

 private:
  Log& log_;
  std::int64_t device_ = 0;
  std::map<std::int64_t, std::int64_t> snapshots_;
  std::optional<std::int64_t> time_ns_;
};

// Lower case, everything but letters, digits and dots an underscore: "Temperature (Sensor edge) (C)" is
// "temperature_sensor_edge_c".
std::string plain_name(std::string_view name);

// Seconds since 1970, "2024/05/01 12:34:56.789", "2024-05-01T12:34:56" or "Wed May  1 12:34:56 2024".
std::optional<std::int64_t> realtime_ns(std::string_view text);

// The layouts. Each returns false where the text is not its own.
bool read_json(std::string_view text, Log& log);
bool read_sections(std::string_view text, Log& log);  // amd-smi metric, nvidia-smi -q
bool read_lines(std::string_view text, Log& log);     // "GPU[0] : name: value" of rocm-smi
bool read_tables(std::string_view text, Log& log);    // amd-smi monitor, rocm-smi, nvidia-smi dmon
bool read_csv(std::string_view text, Log& log);
bool read_boxes(std::string_view text, Log& log);  // nvidia-smi

}  // namespace aaco::formats::smi_text

#include <algorithm>

#include "core/numbers.h"
#include "core/strings.h"
#include "formats/csv.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

// Fields between runs of two or more spaces.
std::vector<std::string> wide_fields(std::string_view line) {
  std::vector<std::string> fields;
  line = core::trim(line);
  while (!line.empty()) {
    const auto gap = line.find("  ");
    fields.emplace_back(core::trim(line.substr(0, gap)));
    line = gap == std::string_view::npos ? std::string_view() : core::trim(line.substr(gap));
  }
  return fields;
}

// Words, with what follows a comma drawn to it: "0x74a0,   50375", "NPS1, SPX, 0"; and what is in brackets: "[0x74a1 : 0x00]".
std::vector<std::string> comma_fields(std::string_view line) {
  std::vector<std::string> fields;
  bool joined = false, bracket = false;
  for (const std::string_view word : core::split_words(line)) {
    if (joined || bracket)
      fields.back().append(" ").append(word);
    else
      fields.emplace_back(word);
    joined = word.back() == ',';
    bracket = (bracket || word.front() == '[') && word.back() != ']';
  }
  return fields;
}

// Numbers and their units apart ("248 W  55 °C"), by the header's count.
void add_row(const std::vector<std::string>& header, const std::vector<std::string>& units,
             const std::vector<std::string>& fields, std::size_t device_column, Cells& cells) {
  const auto device = core::parse_i64(fields[device_column]);
  if (!device || *device < 0) return;
  cells.begin_device(*device);
  for (std::size_t i = 0; i < header.size(); ++i)
    if (i != device_column) cells.add(header[i], fields[i], i < units.size() ? std::string_view(units[i]) : std::string_view());
}

std::size_t column_of(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

// amd-smi monitor; with --watch a time stands in front.
bool read_monitor(const std::vector<std::string_view>& lines, Cells& cells) {
  std::vector<std::string> header;
  std::size_t device_column = 0;
  bool any = false;
  for (const std::string_view line : lines) {
    const auto words = core::split_words(line);
    if (!words.empty() && std::find(words.begin(), words.end(), "GPU") != words.end() && words.size() > 1) {
      header.assign(words.begin(), words.end());
      device_column = column_of(header, "GPU");
      if (column_of(header, "PID") < header.size()) header.clear();  // of processes
      continue;
    }
    if (header.empty() || words.empty()) continue;
    const auto fields = wide_fields(line);
    if (fields.size() != header.size() || !core::parse_i64(fields[device_column])) {
      if (any && core::parse_i64(words[0])) cells.pass_line();  // not the title of the processes' table
      continue;
    }
    if (const auto time = column_of(header, "TIMESTAMP"); time < header.size()) cells.set_time(realtime_ns(fields[time]));
    add_row(header, {}, fields, device_column, cells);
    any = true;
  }
  return any;
}

// rocm-smi's table; a second header line tells which sensor it is: "(Junction)". ROCm 6 prints two lines per GPU, the second
// with its name: "[Model : Revision]" above "Name (20 chars)".
bool read_concise(const std::vector<std::string_view>& lines, Cells& cells) {
  std::vector<std::string> header;
  bool any = false;
  bool open = false;  // the next line names the GPU
  for (const std::string_view line : lines) {
    if (header.empty() || line.find("SCLK") != std::string_view::npos) {
      const auto fields = wide_fields(line);
      if (fields.empty() || (fields[0] != "Device" && fields[0] != "GPU")) continue;
      if (line.find("SCLK") == std::string_view::npos) continue;
      header = fields;
      continue;
    }
    for (std::string& name : header)
      for (const char* sensor : {"Junction", "Edge"})
        if (name == "Temp" && line.find(std::string("(") + sensor + ')') != std::string_view::npos)
          name = std::string("Temp ") + sensor;
    const auto fields = comma_fields(line);
    if (fields.size() != header.size()) {
      if (open && line.starts_with(' ') && !core::trim(line).empty()) cells.add("name", wide_fields(line)[0]);
      open = false;
      continue;
    }
    add_row(header, {}, fields, 0, cells);
    any = true;
    open = header.size() > 1 && header[1].starts_with('[');
  }
  return any;
}

// "# gpu   pwr gtemp" and "# Idx     W     C" stand above the rows, and again every page.
bool read_dmon(const std::vector<std::string_view>& lines, Cells& cells) {
  std::vector<std::string> header, units;
  bool any = false;
  for (const std::string_view line : lines) {
    auto words = core::split_words(line);
    if (words.empty()) continue;
    if (words[0].starts_with('#')) {
      if (words[0] == "#")
        words.erase(words.begin());
      else
        words[0].remove_prefix(1);
      const std::vector<std::string> names(words.begin(), words.end());
      if (column_of(names, "gpu") < names.size()) header = names;
      if (column_of(names, "Idx") < names.size()) units = names;
      continue;
    }
    if (words.size() != header.size()) {
      if (any) cells.pass_line();
      continue;
    }
    const std::size_t date = column_of(header, "Date");
    const std::size_t time = column_of(header, "Time");
    if (date < words.size() && time < words.size() && words[date].size() == 8) {  // 20240501
      const std::string day(words[date]);
      cells.set_time(
          realtime_ns(day.substr(0, 4) + '/' + day.substr(4, 2) + '/' + day.substr(6, 2) + ' ' + std::string(words[time])));
    }
    add_row(header, units, {words.begin(), words.end()}, column_of(header, "gpu"), cells);
    any = true;
  }
  return any;
}

}  // namespace

bool read_tables(std::string_view text, Log& log) {
  Cells cells(log);
  const auto lines = core::split_lines(text);
  log.layout = "table";
  if (text.find("# gpu") != std::string_view::npos || text.find("#gpu") != std::string_view::npos ||
      text.find("#Date") != std::string_view::npos || text.find("#Time") != std::string_view::npos) {
    log.tool = Tool::nvidia_smi;
    return read_dmon(lines, cells);
  }
  if (text.find("SCLK") != std::string_view::npos) {
    log.tool = Tool::rocm_smi;
    return read_concise(lines, cells);
  }
  log.tool = Tool::amd_smi;
  return read_monitor(lines, cells);
}

namespace {

// "power.draw [W]" is a name and a unit.
std::pair<std::string, std::string> name_and_unit(std::string_view heading) {
  heading = core::trim(heading);
  const auto bracket = heading.rfind('[');
  if (bracket == std::string_view::npos || heading.back() != ']') return {std::string(heading), {}};
  return {std::string(core::trim(heading.substr(0, bracket))),
          std::string(heading.substr(bracket + 1, heading.size() - bracket - 2))};
}

// Which device a row is of: a column says so, or its UUID or address, or its place among the rows of one time.
class RowDevice {
 public:
  explicit RowDevice(const std::vector<std::string>& header) {
    for (const char* name : {"gpu", "index", "device"})
      if (number_ == npos) number_ = find(header, name);
    for (const char* name : {"uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "gpu_bdf"})
      if (identity_ == npos) identity_ = find(header, name);
    time_ = find(header, "timestamp");
  }
  [[nodiscard]] bool known() const { return number_ != npos || identity_ != npos || time_ != npos; }
  [[nodiscard]] bool has_number() const { return number_ != npos; }
  [[nodiscard]] std::size_t time_column() const { return time_; }
  std::optional<std::int64_t> of(const std::vector<std::string_view>& fields) {
    if (number_ != npos) {
      std::string_view text = core::trim(fields[number_]);
      if (text.starts_with("card")) text.remove_prefix(4);
      return core::parse_i64(text);
    }
    if (identity_ != npos)
      return by_identity_.try_emplace(std::string(fields[identity_]), static_cast<std::int64_t>(by_identity_.size()))
          .first->second;
    if (time_ == npos) return place_++;
    if (fields[time_] != last_time_) place_ = 0;
    last_time_ = fields[time_];
    return place_++;
  }
  static constexpr std::size_t npos = SIZE_MAX;

 private:
  static std::size_t find(const std::vector<std::string>& header, std::string_view name) {
    for (std::size_t i = 0; i < header.size(); ++i)
      if (core::to_lower(header[i]) == name) return i;
    return npos;
  }
  std::size_t number_ = npos, identity_ = npos, time_ = npos;
  std::map<std::string, std::int64_t> by_identity_;
  std::string last_time_;
  std::int64_t place_ = 0;
};

}  // namespace

bool read_csv(std::string_view text, Log& log) {
  // A log that was started anew in the same file.
  const auto is_header = [](const std::vector<std::string_view>& fields, const std::vector<std::string>& first) {
    return std::equal(fields.begin(), fields.end(), first.begin(), first.end());
  };
  csv::Decoder decoder;
  const char* at = text.data();
  const char* end = at + text.size();
  Cells cells(log);
  log.layout = "CSV";
  std::vector<std::string> header, units, first;
  std::optional<RowDevice> device;
  bool any = false;
  while (decoder.next(at, end, true) == csv::Step::record) {
    const auto& fields = decoder.fields();
    if (header.empty()) {
      if (fields.size() < 2) continue;  // a warning before the table
      first.assign(fields.begin(), fields.end());
      for (const std::string_view heading : fields) {
        auto [name, unit] = name_and_unit(heading);
        header.push_back(std::move(name));
        units.push_back(std::move(unit));
      }
      device.emplace(header);
      const bool dotted =
          std::any_of(header.begin(), header.end(), [](const auto& name) { return name.find('.') != std::string::npos; });
      log.tool = core::to_lower(header[0]) == "device" ? Tool::rocm_smi
                 : dotted || !device->has_number()     ? Tool::nvidia_smi
                                                       : Tool::amd_smi;
      continue;
    }
    if (is_header(fields, first)) continue;
    const auto number = fields.size() == header.size() ? device->of(fields) : std::nullopt;
    if (!number || *number < 0) {
      cells.pass_line();
      continue;
    }
    if (device->time_column() != RowDevice::npos) cells.set_time(realtime_ns(fields[device->time_column()]));
    cells.begin_device(*number);
    for (std::size_t i = 0; i < header.size(); ++i) cells.add(header[i], fields[i], units[i]);
    any = true;
  }
  return any && !log.readings.empty();
}

}  // namespace aaco::formats::smi_text

#include <set>

#include "core/numbers.h"
#include "core/strings.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

std::size_t indent_of(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? line.size() : first;
}

// A heading and how far it is indented: deeper lines belong to it.
struct Heading {
  std::size_t indent = 0;
  std::string name;
};

class SectionReader {
 public:
  SectionReader(Log& log, bool nvidia) : cells_(log), nvidia_(nvidia) {}

  void line(std::string_view line) {
    const std::size_t indent = indent_of(line);
    const std::string_view text = core::trim(line);
    if (text.empty()) return;
    if (nvidia_ ? is_nvidia_device(text, indent) : is_amd_device(text)) return;
    if (nvidia_ && !started_ && text.starts_with("Timestamp") && text.find(':') != std::string_view::npos)
      return cells_.set_time(realtime_ns(text.substr(text.find(':') + 1)));
    if (!started_) return;
    while (!open_.empty() && open_.back().indent >= indent) open_.pop_back();
    const auto colon = text.find(nvidia_ ? " : " : ":");
    const std::string name(core::trim(text.substr(0, colon)));
    if (colon == std::string_view::npos) {
      if (nvidia_ || text.back() == ':') open_.push_back({indent, name});
      return;  // else the rest of a list
    }
    const std::string_view value = core::trim(text.substr(colon + (nvidia_ ? 3 : 1)));
    if (value.empty()) return open_.push_back({indent, name});
    std::string path;
    for (const Heading& heading : open_) path += heading.name + '.';
    cells_.add(path + name, value);
  }
  [[nodiscard]] bool started() const { return started_; }

 private:
  // "GPU: 0"; sections of CPUs are passed over.
  bool is_amd_device(std::string_view text) {
    if (text.starts_with("CPU:")) started_ = false;
    if (text.starts_with("TIMESTAMP:")) {
      cells_.set_time(realtime_ns(text.substr(10)));
      return true;
    }
    if (!text.starts_with("GPU:")) return text.starts_with("CPU:");
    const auto device = core::parse_i64(text.substr(4));
    if (!device || *device < 0) return false;
    begin(*device);
    return true;
  }
  // "GPU 00000000:07:00.0", in the order of the log.
  bool is_nvidia_device(std::string_view text, std::size_t indent) {
    if (indent != 0 || !text.starts_with("GPU ") || text.find(" : ") != std::string_view::npos ||
        text.find(':') == std::string_view::npos)
      return false;
    const auto [place, fresh] =
        by_address_.try_emplace(std::string(core::trim(text.substr(4))), static_cast<std::int64_t>(by_address_.size()));
    begin(place->second);
    cells_.add("bus_id", place->first);
    return true;
  }
  void begin(std::int64_t device) {
    started_ = true;
    open_.clear();
    cells_.begin_device(device);
  }

  Cells cells_;
  bool nvidia_ = false, started_ = false;
  std::vector<Heading> open_;
  std::map<std::string, std::int64_t> by_address_;
};

}  // namespace

bool read_sections(std::string_view text, Log& log) {
  const bool nvidia = text.find("NVSMI LOG") != std::string_view::npos;
  SectionReader reader(log, nvidia);
  for (const std::string_view line : core::split_lines(text)) reader.line(line);
  if (nvidia) log.tool = Tool::nvidia_smi;
  log.layout = "sections";
  return reader.started();
}

bool read_lines(std::string_view text, Log& log) {
  Cells cells(log);
  log.tool = Tool::rocm_smi;
  log.layout = "lines";
  std::map<std::int64_t, std::set<std::string>> seen;
  bool any = false;
  for (const std::string_view whole : core::split_lines(text)) {
    const std::string_view line = core::trim(whole);
    const auto bracket = line.find(']');
    if (!line.starts_with("GPU[") || bracket == std::string_view::npos) continue;
    const auto device = core::parse_i64(line.substr(4, bracket - 4));
    const auto colon = line.find(':', bracket);
    if (!device || *device < 0 || colon == std::string_view::npos) continue;
    const std::string_view rest = core::trim(line.substr(colon + 1));
    const auto split = rest.rfind(": ");
    if (split == std::string_view::npos) continue;
    std::string name(core::trim(rest.substr(0, split)));
    if (const auto level = name.find(" clock level"); level != std::string::npos) name = name.substr(0, level);
    // A name that comes again begins the next snapshot.
    auto& names = seen[*device];
    if (names.empty() || names.contains(name)) {
      cells.begin_device(*device);
      names.clear();
    }
    names.insert(name);
    cells.select_device(*device);
    cells.add(name, rest.substr(split + 2));
    any = true;
  }
  return any;
}

}  // namespace aaco::formats::smi_text

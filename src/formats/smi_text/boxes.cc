#include "core/numbers.h"
#include "core/strings.h"
#include "formats/smi_text/cells.h"

namespace aaco::formats::smi_text {
namespace {

// "67W / 400W" and "1234MiB / 81559MiB": used and limit.
void add_pair(Cells& cells, std::string_view text, std::string_view used, std::string_view limit) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return;
  cells.add(used, text.substr(0, slash));
  cells.add(limit, text.substr(slash + 1));
}

}  // namespace

// Two lines a GPU between bars: "|   0  NAME   On  | ADDRESS Off | ECC |" and
// "| N/A   34C    P0    67W / 400W |  1234MiB / 81559MiB |   0%  Default |".
bool read_boxes(std::string_view text, Log& log) {
  if (text.find("NVIDIA-SMI") == std::string_view::npos) return false;
  log.tool = Tool::nvidia_smi;
  log.layout = "boxes";
  Cells cells(log);
  bool any = false;
  bool open = false;  // the first line of a GPU has been read
  for (const std::string_view line : core::split_lines(text)) {
    if (const auto time = realtime_ns(line)) cells.set_time(time);
    if (line.find("Processes:") != std::string_view::npos) break;
    const auto cell = core::split(line, '|');
    if (cell.size() != 5) continue;
    const auto first = core::split_words(cell[1]);
    const auto second = core::split_words(cell[2]);
    if (first.empty() || second.empty()) continue;
    if (const auto device = core::parse_i64(first[0]); device && *device >= 0 && second[0].find(':') != std::string_view::npos) {
      cells.begin_device(*device);
      std::string name;
      for (std::size_t i = 1; i + 1 < first.size(); ++i) name.append(name.empty() ? "" : " ").append(first[i]);
      cells.add("name", name);
      cells.add("bus_id", second[0]);
      open = true;
      continue;
    }
    const auto slash = cell[1].find('/', cell[1].find('W'));
    if (!open || second.size() < 3) continue;
    open = false;
    any = true;
    for (const std::string_view word : first)
      if (word.size() > 1 && word.back() == 'C' && core::parse_f64(word.substr(0, word.size() - 1)))
        cells.add("temperature.gpu", word);
    if (slash != std::string_view::npos) {
      const auto before = core::split_words(cell[1].substr(0, slash));
      if (!before.empty()) cells.add("power.draw", before.back());
      cells.add("enforced.power.limit", cell[1].substr(slash + 1));
    }
    add_pair(cells, cell[2], "memory.used", "memory.total");
    const auto use = core::split_words(cell[3]);
    if (!use.empty()) cells.add("utilization.gpu", use[0]);
  }
  return any;
}

}  // namespace aaco::formats::smi_text

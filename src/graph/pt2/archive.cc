#include <algorithm>

#include "core/mapped_file.h"
#include "formats/zip.h"
#include "graph/pt2.h"

namespace aaco::graph::pt2 {
namespace {

using core::ErrorCode;
using core::fail;
namespace zip = formats::zip;

constexpr std::int64_t kMaxProgramBytes = std::int64_t{512} << 20;

// Until 2.5, and since: "archive/models/model.json". Of several models the one called "model", else the first.
const zip::Entry* find_program(const std::vector<zip::Entry>& entries) {
  const zip::Entry* found = nullptr;
  for (const zip::Entry& entry : entries) {
    const std::string_view name = entry.name;
    if (name == "serialized_exported_program.json" || name.ends_with("/serialized_exported_program.json")) return &entry;
    const std::size_t folder = name.find("models/");
    const bool in_folder = folder == 0 || (folder != std::string_view::npos && name[folder - 1] == '/');
    if (!in_folder || !name.ends_with(".json") || name.find('/', folder + 7) != std::string_view::npos) continue;
    if (found == nullptr || name.ends_with("models/model.json")) found = &entry;
  }
  return found;
}

bool has(const std::vector<zip::Entry>& entries, std::string_view ending) {
  return std::any_of(entries.begin(), entries.end(), [&](const zip::Entry& entry) { return entry.name.ends_with(ending); });
}

tl::unexpected<core::Error> no_program(const std::vector<zip::Entry>& entries, const std::string& name) {
  std::string what = "this zip archive holds no exported program";
  std::string remedy = "export the model with torch.export.save";
  if (has(entries, "/data.pkl") || has(entries, "constants.pkl")) {
    what = "this is a checkpoint or a TorchScript archive, not an exported program";
    remedy = "export the model with torch.export.export and torch.export.save";
  } else if (has(entries, ".wrapper.so") || has(entries, "aotinductor")) {
    what = "this archive holds a compiled model (AOTInductor) without its graph";
  }
  return fail(ErrorCode::invalid_input, name + ": " + what, remedy);
}

}  // namespace

core::Result<Graph> parse(std::string_view archive, const std::string& name) {
  auto entries = zip::list(archive);
  if (!entries) return tl::unexpected<core::Error>(std::move(entries).error().with("reading " + name));
  const zip::Entry* program = find_program(*entries);
  if (program == nullptr) return no_program(*entries, name);
  auto json = zip::extract(archive, *program, kMaxProgramBytes);
  if (!json) return tl::unexpected<core::Error>(std::move(json).error().with("reading " + program->name + " of " + name));
  return parse_program(*json, name);
}

core::Result<Graph> load(const std::string& path) {
  AACO_ASSIGN(const core::MappedFile file, core::MappedFile::open(path));
  return parse(file.bytes(), path);
}

}  // namespace aaco::graph::pt2

#include <algorithm>

#include "core/mapped_file.h"
#include "core/strings.h"
#include "formats/zip.h"
#include "graph/pt2.h"
#include "graph/pt2/header.h"

namespace aaco::graph::pt2 {
namespace {

using core::ErrorCode;
using core::fail;
namespace zip = formats::zip;

constexpr std::int64_t kMaxProgramBytes = std::int64_t{512} << 20;

struct Program {
  const zip::Entry* entry = nullptr;
  std::string model;  // its name; of the layout until 2.5, which holds one: empty
};

// Until 2.5 "serialized_exported_program.json", since then "NAME/models/MODEL.json".
std::vector<Program> programs_of(const std::vector<zip::Entry>& entries) {
  constexpr std::string_view kFolder = "models/", kEnding = ".json";
  std::vector<Program> programs;
  for (const zip::Entry& entry : entries) {
    const std::string_view name = entry.name;
    if (name == "serialized_exported_program.json" || name.ends_with("/serialized_exported_program.json")) return {{&entry, {}}};
    const std::size_t folder = name.find(kFolder);
    const bool in_folder = folder == 0 || (folder != std::string_view::npos && name[folder - 1] == '/');
    if (!in_folder || !name.ends_with(kEnding)) continue;
    const std::string_view file = name.substr(folder + kFolder.size());
    if (file.size() > kEnding.size() && file.find('/') == std::string_view::npos)
      programs.push_back({&entry, std::string(file.substr(0, file.size() - kEnding.size()))});
  }
  return programs;
}

bool has(const std::vector<zip::Entry>& entries, std::string_view ending) {
  return std::any_of(entries.begin(), entries.end(), [&](const zip::Entry& entry) { return entry.name.ends_with(ending); });
}

tl::unexpected<core::Error> no_program(const std::vector<zip::Entry>& entries, const std::string& name) {
  std::string what = "this zip archive contains no exported program";
  std::string remedy = "export the model with torch.export.save";
  if (has(entries, "/data.pkl") || has(entries, "constants.pkl")) {
    what = "this is a checkpoint or a TorchScript archive, not an exported program";
    remedy = "export the model with torch.export.export and torch.export.save";
  } else if (has(entries, ".wrapper.so") || has(entries, "aotinductor")) {
    what = "this archive contains a compiled model (AOTInductor) without its graph";
  }
  return fail(ErrorCode::invalid_input, name + ": " + what, remedy);
}

std::string names_of(const std::vector<Program>& programs) {
  std::vector<std::string> names;
  for (const Program& program : programs) names.push_back(program.model.empty() ? "(without a name)" : program.model);
  return core::join(names, ", ");
}

// The program asked for; else the only one; else the one that PyTorch itself calls "model".
core::Result<const Program*> choose(const std::vector<Program>& programs, const std::string& model, const std::string& name) {
  const std::string wanted = model.empty() ? "model" : model;
  const auto found =
      std::find_if(programs.begin(), programs.end(), [&](const Program& program) { return program.model == wanted; });
  if (found != programs.end()) return &*found;
  if (!model.empty())
    return fail(ErrorCode::invalid_argument, name + " has no model '" + model + "'", "its models: " + names_of(programs));
  if (programs.size() == 1) return &programs.front();
  return fail(
      ErrorCode::invalid_argument,
      name + " contains " + std::to_string(programs.size()) + " models (" + names_of(programs) + "), and none is named 'model'",
      "choose one: '" + name + "#" + programs.front().model + "'");
}

// Where the parameters lie, in archives that say it.
core::Result<StoredWeights> weights_of(std::string_view archive, const std::vector<zip::Entry>& entries,
                                       const std::string& model) {
  const std::string beginning = "data/weights/" + model + "_";
  for (const zip::Entry& entry : entries) {
    const std::size_t folder = entry.name.find(beginning);
    if (folder == std::string::npos || !entry.name.ends_with("_config.json")) continue;
    AACO_ASSIGN(const std::string json, zip::extract(archive, entry, kMaxProgramBytes));
    return stored_weights(json);
  }
  return StoredWeights{};
}

}  // namespace

core::Result<Source> parse(std::string_view archive, const std::string& name, const std::string& model) {
  auto entries = zip::list(archive);
  if (!entries) return tl::unexpected<core::Error>(std::move(entries).error().with("reading " + name));
  const std::vector<Program> programs = programs_of(*entries);
  if (programs.empty()) return no_program(*entries, name);
  AACO_ASSIGN(const Program* program, choose(programs, model, name));
  const auto within = [&name](core::Error error, const std::string& part) {
    return tl::unexpected<core::Error>(std::move(error).with("reading " + part + " of " + name));
  };
  auto json = zip::extract(archive, *program->entry, kMaxProgramBytes);
  if (!json) return within(std::move(json).error(), program->entry->name);
  auto stored = weights_of(archive, *entries, program->model);
  if (!stored) return within(std::move(stored).error(), "locating the weights");
  AACO_ASSIGN(Source source, parse_program(*json, name, *stored));
  if (!program->model.empty()) source.graph.name = program->model;
  if (programs.size() > 1 && model.empty())
    source.assumptions.push_back("of the models " + names_of(programs) + ", '" + program->model +
                                 "' was used; choose a different one with FILE#NAME");
  return source;
}

core::Result<Source> load(const std::string& path, const std::string& model) {
  AACO_ASSIGN(const core::MappedFile file, core::MappedFile::open(path));
  return parse(file.bytes(), path, model);
}

}  // namespace aaco::graph::pt2

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>

#include "core/files.h"
#include "core/handles.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/numbers.h"
#include "runner/memory_fit.h"
#include "runner/zoo.h"
#include "runner/zoo/cache.h"
#include "runner/zoo/weights.h"

namespace aaco::runner::zoo {
namespace {

using core::ErrorCode;
using core::fail;

// Part of every cached model's name: raise it when a generated file changes.
constexpr int kGeneratorVersion = 1;
constexpr std::int64_t kSpareDiskBytes = std::int64_t{64} << 20;
// What the structure of a model may take on disk besides its weights.
constexpr std::int64_t kStructureBytes = std::int64_t{8} << 20;
constexpr std::string_view kManifest = "zoo.json";
constexpr std::string_view kMaking = ".making-";

std::string folder_name(const Entry& entry, const Config& config, std::uint64_t seed) {
  std::string key = "version " + std::to_string(kGeneratorVersion) + "\nmodel " + entry.name + "\ndtype " +
                    std::string(graph::to_string(config.type)) + "\nseed " + std::to_string(seed);
  for (const Parameter& parameter : entry.parameters)
    if (parameter.name != kCacheParameter || entry.value(config, parameter.name) != parameter.value)
      key += "\n" + parameter.name + " " + std::to_string(entry.value(config, parameter.name));
  return entry.name + "-" + core::sha256_hex(key).substr(0, 16);
}

// The manifest is written last and holds the size of every other file, so that a folder that a crash cut short is found out.
core::Status write_manifest(const std::string& folder) {
  core::Json files = core::Json::object();
  AACO_ASSIGN(const std::vector<std::string> names, core::list_directory(folder));
  for (const std::string& name : names) {
    AACO_ASSIGN(const std::int64_t size, core::file_size(core::join_path(folder, name)));
    files.set(name, size);
  }
  return core::write_file_atomic(core::join_path(folder, kManifest), core::Json::object({{"files", files}}).dump());
}

bool is_complete(const std::string& folder) {
  const auto manifest = core::read_json_file(core::join_path(folder, kManifest));
  if (!manifest || (*manifest)["files"].members().empty()) return false;
  const auto& files = (*manifest)["files"].members();
  return std::all_of(files.begin(), files.end(), [&](const core::Json::Member& file) {
    const auto size = core::file_size(core::join_path(folder, file.first));
    return size && *size == file.second.as_i64();
  });
}

// Held while a model is made, so that a second maker waits for it instead of writing the same bytes beside it. Where the file
// system has no locks both write, and the second to finish finds the first one's folder. `wait` or not: not valid when it is
// taken.
core::FileDescriptor lock(const std::string& models, const std::string& name, bool wait) {
  const std::string path = core::join_path(models, "." + name + ".lock");
  core::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file.valid() && ::flock(file.get(), LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) file.reset();
  return file;
}

// Removes what makers that were killed left behind: folders being made whose lock nobody holds. `own`: the model locked here.
void remove_leftovers(const std::string& models, const std::string& own) {
  const auto names = core::list_directory(models);
  if (!names) return;
  for (const std::string& left : *names) {
    if (!left.starts_with(kMaking)) continue;
    const std::string name = left.substr(kMaking.size(), left.rfind('.') - kMaking.size());
    const core::FileDescriptor held = name == own ? core::FileDescriptor() : lock(models, name, false);
    if (name == own || held.valid()) (void)core::remove_tree(core::join_path(models, left));
  }
}

core::Status check_disk(const std::string& folder, std::int64_t needed, const std::string& name) {
  AACO_ASSIGN(const std::int64_t available, core::free_space(folder));
  if (available >= needed + kSpareDiskBytes) return {};
  return fail(ErrorCode::exhausted,
              "generating " + name + " needs " + core::format_bytes(static_cast<double>(needed)) + " in " + folder +
                  ", but only " + core::format_bytes(static_cast<double>(available)) + " are free",
              "free disk space, or set XDG_CACHE_HOME to a folder on another disk");
}

core::Status publish(core::TemporaryDirectory&& made, const std::string& folder) {
  if (core::exists(folder) && !is_complete(folder)) AACO_TRY(core::remove_tree(folder));
  const core::Status moved = core::rename_path(made.path(), folder);
  if (moved) {
    (void)made.release();
    return {};
  }
  return is_complete(folder) ? core::Status{} : moved;  // another maker was first: its model is the same
}

}  // namespace

Footprint footprint(const Blueprint& blueprint) {
  const std::int64_t weights = graph::total_constants(blueprint.graph).bytes;
  const bool external = weights > graph::onnx::kEmbedLimitBytes;
  const std::int64_t memory = loading_bytes(weights, external, blueprint.type == ElementType::float16);
  return {blueprint.parameters, weights + kStructureBytes, memory};
}

core::Result<std::string> make(const Entry& entry, const Config& config, std::uint64_t seed, const std::string& cache_dir,
                               const Progress& progress) {
  const std::string models = core::join_path(cache_dir, "models");
  const std::string name = folder_name(entry, config, seed);
  const std::string folder = core::join_path(models, name);
  const std::string file_name = entry.name + ".onnx";
  if (is_complete(folder)) return core::join_path(folder, file_name);

  AACO_ASSIGN(const Blueprint blueprint, build_graph(entry, config));
  AACO_TRY(core::make_writable_folder(models, "XDG_CACHE_HOME"));
  const core::FileDescriptor held = lock(models, name, true);
  if (is_complete(folder)) return core::join_path(folder, file_name);
  if (held.valid()) remove_leftovers(models, name);
  AACO_TRY(check_disk(models, footprint(blueprint).disk_bytes, entry.name));

  AACO_ASSIGN(core::TemporaryDirectory made, core::TemporaryDirectory::make(models, std::string(kMaking) + name));
  SeededWeights weights(blueprint, seed);
  graph::onnx::WriteOptions options;
  options.progress = progress;
  AACO_TRY(graph::onnx::write(blueprint.graph, &weights, core::join_path(made.path(), file_name), options));
  AACO_TRY(write_manifest(made.path()));
  AACO_TRY(publish(std::move(made), folder));
  return core::join_path(folder, file_name);
}

std::optional<std::string> made_path(const Entry& entry, const Config& config, std::uint64_t seed, const std::string& cache_dir) {
  const std::string folder = core::join_path(core::join_path(cache_dir, "models"), folder_name(entry, config, seed));
  if (!is_complete(folder)) return std::nullopt;
  return core::join_path(folder, entry.name + ".onnx");
}

core::Status write_structure(const Entry& entry, const Config& config, const std::string& path) {
  AACO_ASSIGN(const Blueprint blueprint, build_graph(entry, config));
  graph::onnx::WriteOptions options;
  options.storage = graph::onnx::WeightStorage::absent;
  return graph::onnx::write(blueprint.graph, nullptr, path, options);
}

}  // namespace aaco::runner::zoo

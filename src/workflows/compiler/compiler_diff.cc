#include "workflows/compiler_diff.h"

#include "core/files.h"
#include "tracelake/bundle.h"
#include "workflows/compiler/compare_documents.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::string_view kKind = "compiler";

struct Found {
  std::string path;
  trace::SessionManifest manifest;
  [[nodiscard]] bool is_compiler() const { return manifest.kind == kKind; }
};

// Null where there is no such session: whoever asks for measurements says why.
std::optional<Found> find(const std::string& name, const Services& services) {
  const auto path = tracelake::find_session(services.paths.sessions, name);
  if (!path) return std::nullopt;
  auto manifest = tracelake::read_manifest(*path);
  if (!manifest) return std::nullopt;
  return Found{*path, std::move(*manifest)};
}

core::Result<Json> document_of(const Found& found) {
  const std::string& id = found.manifest.id.text;
  if (!found.manifest.whole())
    return core::fail(ErrorCode::invalid_input, "session " + id + " is " + found.manifest.state + " and cannot be compared",
                      "run 'aaco compiler' again");
  auto document = core::read_json_file(core::join_path(found.path, "metrics/compiler.json"));
  if (!document) return document;
  if ((*document)["schema_version"].as_i64() != 1 || !(*document)["compiler_nodes"].is_array())
    return core::fail(ErrorCode::invalid_input, "session " + id + " has a damaged metrics/compiler.json",
                      "run 'aaco compiler' again");
  return document;
}

}  // namespace

core::Result<std::optional<Json>> diff_compiler_sessions(const std::string& here, const std::string& there,
                                                         const Services& services) {
  const auto a = find(here, services), b = find(there, services);
  if ((!a || !a->is_compiler()) && (!b || !b->is_compiler())) return std::optional<Json>();
  for (const auto& [found, name] : {std::pair(&a, &here), std::pair(&b, &there)})
    if (!*found) return tl::unexpected(tracelake::find_session(services.paths.sessions, *name).error());
  if (!a->is_compiler() || !b->is_compiler()) {
    const auto& other = a->is_compiler() ? *b : *a;
    return core::fail(ErrorCode::invalid_argument,
                      "session " + other.manifest.id.text + " is of kind " + other.manifest.kind +
                          "; a session of 'aaco compiler' is compared with another one only",
                      "'aaco ls' lists sessions and their kinds");
  }
  AACO_ASSIGN(const Json first, document_of(*a));
  AACO_ASSIGN(const Json second, document_of(*b));
  Json out = compare_documents(first, second);
  if (out["here"].text() == out["there"].text())
    out.set("here", std::string(out["here"].text()) + " (" + a->manifest.id.text + ")")
        .set("there", std::string(out["there"].text()) + " (" + b->manifest.id.text + ")");
  return std::optional(std::move(out));
}

}  // namespace aaco::workflows

#include "tracelake/export.h"

#include "core/files.h"
#include "tracelake/bundle.h"
#include "workflows/export.h"

namespace aaco::workflows {

core::Result<std::string> export_session(const ExportRequest& request, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, request.session));
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
  const std::string id = manifest.id.text;
  if (request.format == "csv") {
    const std::string folder = request.output.empty() ? id + "-csv" : request.output;
    AACO_TRY(tracelake::export_csv(path, folder));
    return core::absolute_path(folder);
  }
  const bool chrome = request.format == "chrome";
  const std::string file = !request.output.empty() ? request.output : id + (chrome ? ".json" : ".perfetto-trace");
  AACO_TRY(
      tracelake::export_timeline(path, chrome ? tracelake::TimelineFormat::chrome : tracelake::TimelineFormat::perfetto, file));
  return core::absolute_path(file);
}

}  // namespace aaco::workflows

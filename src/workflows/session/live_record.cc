#include "workflows/live_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "workflows/process_identity.h"

namespace aaco::workflows {

using core::Json;

std::string live_folder(const std::string& sessions) { return core::join_path(sessions, ".live"); }

LiveRecord::LiveRecord(const std::string& sessions, const trace::SessionManifest& manifest, std::string_view what)
    : path_(core::join_path(live_folder(sessions), manifest.id.text + ".jsonl")) {
  ::mkdir(live_folder(sessions).c_str(), 0700);
  file_ = core::FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  line(Json::object({{"schema_version", 1},
                     {"session", manifest.id.text},
                     {"kind", manifest.kind},
                     {"tag", manifest.tag},
                     {"what", what},
                     {"process_id", static_cast<std::int64_t>(::getpid())},
                     {"process_started", process_start_ticks(::getpid())},
                     {"started", core::iso8601_utc(manifest.created_realtime_ns)},
                     {"time_ns", core::monotonic_ns()}}));
}

LiveRecord::~LiveRecord() {
  if (file_.valid()) ::unlink(path_.c_str());
}

void LiveRecord::phase(std::string_view name) { line(Json::object({{"phase", name}, {"time_ns", core::monotonic_ns()}})); }

void LiveRecord::line(const Json& fact) {
  if (!file_.valid()) return;
  const std::string text = fact.dump(-1) + "\n";
  (void)!::write(file_.get(), text.data(), text.size());
}

}  // namespace aaco::workflows

#pragma once

#include <memory>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "hardware/fingerprint.h"
#include "trace/metric.h"
#include "trace/session.h"
#include "tracelake/bundle.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// A session under way: what every use case that makes one does at its beginning and end. Call order: begin, then whatever is
// measured goes to sink() and the manifest, then finish.
class SessionDraft {
 public:
  // Makes the open bundle with its first session.json, records the clocks.
  static core::Result<SessionDraft> begin(std::string kind, std::string tag, core::Json request, const Services& services);

  trace::SessionManifest& manifest() { return manifest_; }
  trace::Sink& sink() { return writer_->sink(); }
  tracelake::BundleWriter& writer() { return *writer_; }
  void warn(std::string id, std::string message, std::string remedy = {}) {
    manifest_.warnings.push_back({std::move(id), std::move(message), std::move(remedy)});
  }
  void phase(std::string name, std::int64_t start_ns, std::int64_t end_ns) {
    manifest_.phases.push_back({std::move(name), start_ns, end_ns});
  }

  // Writes the lockbox and the fingerprint. `subject` holds what must be equal for two sessions of this kind to be
  // compared (keys of hardware/fingerprint.h); `libraries` names libraries with versions.
  core::Status write_lockbox(std::vector<hardware::Fact> subject, const core::Json& libraries);
  // Writes the metrics, records the clocks again, and closes the bundle. `interrupted`: the user ended it early.
  core::Result<SessionOutcome> finish(trace::Metrics metrics, bool interrupted);

 private:
  SessionDraft(trace::SessionManifest manifest, std::unique_ptr<tracelake::BundleWriter> writer, const Services& services)
      : manifest_(std::move(manifest)), writer_(std::move(writer)), services_(&services) {}

  trace::SessionManifest manifest_;
  std::unique_ptr<tracelake::BundleWriter> writer_;
  const Services* services_;
};

}  // namespace aaco::workflows

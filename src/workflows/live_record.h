#pragma once

#include <string>
#include <string_view>

#include "core/handles.h"
#include "core/json.h"
#include "trace/session.h"

namespace aaco::workflows {

// Tells viewers of a session under way: <sessions>/.live/ID.jsonl, one line of JSON per fact (docs/formats/live.md). The file
// goes with this. Viewing is never worth a failed measurement: where nothing can be written, nothing is.
class LiveRecord {
 public:
  // `what`: "resnet50, cpu, batch 1".
  LiveRecord(const std::string& sessions, const trace::SessionManifest& manifest, std::string_view what);
  LiveRecord(const LiveRecord&) = delete;
  LiveRecord& operator=(const LiveRecord&) = delete;
  ~LiveRecord();

  // What is being done now: "warming up".
  void phase(std::string_view name);
  // Adds a line in one write.
  void line(const core::Json& fact);

 private:
  std::string path_;
  core::FileDescriptor file_;
};

// <sessions>/.live
std::string live_folder(const std::string& sessions);

}  // namespace aaco::workflows

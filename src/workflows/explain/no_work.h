#pragma once

#include <cstdint>
#include <string_view>

#include "core/json.h"
#include "trace/session.h"

namespace aaco::workflows {

// The host's rows of a session without device work, by domain.
struct CallKinds {
  std::int64_t count = 0;
  std::int64_t allocations = 0, markers = 0;
  std::int64_t ranges = 0;  // markers among them
  void add(std::string_view domain) {
    ++count;
    allocations += domain == "memory_allocation" || domain == "scratch_memory" ? 1 : 0;
    markers += domain == "marker" ? 1 : 0;
    ranges += domain == "marker" || domain == "annotation" ? 1 : 0;
  }
};

// Of an import in which nothing could be judged: a document like metrics/bottleneck.json, inconclusive, whose cause says what the
// files contain instead. Null where that is not clear from the counts of the import.
core::Json nothing_to_judge(const trace::SessionManifest& manifest, const CallKinds& calls = {});

// Whether a file of the session ends early. What its rest does not have may have been in the part that is missing.
bool is_cut(const trace::SessionManifest& manifest);
// The document of a session that is cut and has host events only.
core::Json cut_file();

}  // namespace aaco::workflows

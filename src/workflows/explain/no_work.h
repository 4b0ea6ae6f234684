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

}  // namespace aaco::workflows

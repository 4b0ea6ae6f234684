#pragma once

#include <string>
#include <vector>

#include "core/handles.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/optimize/trial.h"

namespace aaco::workflows {

// journal.jsonl of a search: a line with what is searched, then a line per trial state, the last one of a configuration counting.
// Lines are synced as they are written; a torn last line is ignored.
class Journal {
 public:
  // Opens the journal of `folder`, which is created, and holds the folder as long as this is there. Fails with conflict if the
  // folder has trials of another subject or another search is at work in it (not seen on a file system without flock). What a
  // killed search left is removed.
  static core::Result<Journal> open(const std::string& folder, const core::Json& subject);
  core::Status add(const Trial& trial);
  [[nodiscard]] const std::vector<Trial>& earlier() const { return earlier_; }  // of the search that is resumed

 private:
  Journal(core::FileDescriptor held, core::FileDescriptor file, std::string path)
      : held_(std::move(held)), file_(std::move(file)), path_(std::move(path)) {}
  core::FileDescriptor held_, file_;
  std::string path_;
  std::vector<Trial> earlier_;
};

}  // namespace aaco::workflows

#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/jobs.h"

namespace aaco::workflows {

// The folder of the jobs: ID.json, ID.log (standard error), ID.result (standard output), ID.progress.
class JobFolder {
 public:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const { return path_; }
  // The words with the folder for what the verb writes besides its result, where it does.
  [[nodiscard]] std::vector<std::string> with_results(const JobVerb& verb, std::string_view id,
                                                      std::vector<std::string> words) const;
  [[nodiscard]] std::string file(std::string_view id, std::string_view ending) const;

  // Every stored job, oldest first; damaged files are skipped.
  [[nodiscard]] core::Result<std::vector<Job>> read() const;
  [[nodiscard]] core::Status write(const Job& job) const;
  void remove(std::string_view id) const;

 private:
  std::string path_;
};

// Of a stored document; invalid_input where it is damaged.
core::Result<Job> job_from_json(const core::Json& document);

// Takes "aaco: MESSAGE" and "hint: HINT" from what the program wrote.
void read_error(const std::string& log, Job& job);

}  // namespace aaco::workflows

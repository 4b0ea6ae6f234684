#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "laboratory/corpus.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// What the program says limits a session, and why its device was idle in an interval.
laboratory::corpus::Answer headline_answer(const std::string& path, const trace::SessionManifest& manifest,
                                           const laboratory::corpus::Words& words);
laboratory::corpus::Answer gap_answer(const std::string& path, std::int64_t start_ns, std::int64_t length_ns,
                                      const laboratory::corpus::Words& words);

// Asks the program what the cases of a corpus ask. A file is imported once for each set of files that it is read with.
class CorpusAnswers {
 public:
  // Files lie below `data`, those of "own/" below `cases`. `services` are those of a lake of its own.
  CorpusAnswers(std::string data, std::string cases, const laboratory::corpus::Words& words, const Services& services)
      : data_(std::move(data)), cases_(std::move(cases)), words_(words), services_(services) {}
  // An import that is refused is an answer: the program cannot tell. Empty: the data lack a file.
  std::optional<laboratory::corpus::Answer> answer(const laboratory::corpus::Case& one);

 private:
  using Answer = laboratory::corpus::Answer;
  using Case = laboratory::corpus::Case;

  const core::Result<SessionOutcome>& session(const std::vector<std::string>& files, const std::vector<std::string>& captures);
  [[nodiscard]] Answer kernel(const SessionOutcome& session, const Case& one) const;
  [[nodiscard]] Answer coverage(const SessionOutcome& session, const Case& one) const;
  [[nodiscard]] Answer pair(const SessionOutcome& a, const SessionOutcome& b) const;

  [[nodiscard]] std::string path_of(const std::string& file) const;

  std::string data_, cases_;
  const laboratory::corpus::Words& words_;
  const Services& services_;
  std::map<std::vector<std::string>, core::Result<SessionOutcome>> sessions_;
};

}  // namespace aaco::workflows

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "laboratory/corpus.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// Asks the program what the cases of a corpus ask. A file is imported once for each set of files that it is read with.
class CorpusAnswers {
 public:
  // `services` are those of a lake of its own.
  CorpusAnswers(std::string data, const laboratory::corpus::Words& words, const Services& services)
      : data_(std::move(data)), words_(words), services_(services) {}
  // An import that is refused is an answer: the program cannot tell. Empty: the data lack a file.
  std::optional<laboratory::corpus::Answer> answer(const laboratory::corpus::Case& one);

 private:
  using Answer = laboratory::corpus::Answer;
  using Case = laboratory::corpus::Case;

  const core::Result<SessionOutcome>& session(const std::vector<std::string>& files, const std::vector<std::string>& captures);
  [[nodiscard]] Answer headline(const SessionOutcome& session) const;
  [[nodiscard]] Answer gap(const SessionOutcome& session, const Case& one) const;
  [[nodiscard]] Answer kernel(const SessionOutcome& session, const Case& one) const;
  [[nodiscard]] Answer coverage(const SessionOutcome& session, const Case& one) const;
  [[nodiscard]] Answer pair(const SessionOutcome& a, const SessionOutcome& b) const;

  std::string data_;
  const laboratory::corpus::Words& words_;
  const Services& services_;
  std::map<std::vector<std::string>, core::Result<SessionOutcome>> sessions_;
};

}  // namespace aaco::workflows

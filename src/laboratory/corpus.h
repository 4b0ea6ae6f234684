#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/yaml.h"

// Claims on real traces whose true answer is known (docs/formats/corpus.md), and how well answers agree with them. Nothing here
// reads a trace: the answers come from outside.
namespace aaco::laboratory::corpus {

struct Truth {
  std::string class_id;  // empty: not asked (coverage)
  std::string cause;
  std::vector<std::string> seconds;   // classes and causes that count as right too
  std::vector<std::string> must_not;  // claims that would be false
  std::string frame;                  // part of the name of the host's event; a cause that names an event must name this one
};

struct Case {
  std::string id;  // "owlv2.headline"; the part before the last dot names the trace
  std::string file;
  std::vector<std::string> others;
  std::string kind;   // headline, gap, kernel, pair, coverage
  std::string split;  // tune, held
  std::string origin;
  std::string call;                          // of the query
  std::string kernel;                        // regular expression of the kernel in question; empty: none
  std::vector<std::string> operators;        // that the query counts; empty: all products
  std::int64_t start_ns = 0, length_ns = 0;  // of a gap
  std::map<std::string, double> values;      // what the query returned, numbers only
  Truth truth;
};

// Every case of a folder's *.yaml, in order of file. Fails, with file and line, on what the schema does not know, on an id that
// occurs twice, and where no case is found.
core::Result<std::vector<Case>> load_cases(const std::string& folder);
core::Result<std::vector<Case>> cases_of(const core::YamlNode& document);

// What the program's ids are called in the corpus. An id that is not listed is its own word, with '-' for '_'.
class Words {
 public:
  struct Word {
    std::string class_id, cause;  // empty: says nothing of it
  };
  static core::Result<Words> load(const std::string& path);
  static core::Result<Words> of(const core::YamlNode& document);
  [[nodiscard]] std::string class_of(std::string_view id) const;  // of a headline or a limit
  [[nodiscard]] Word cause_of(std::string_view id) const;         // its class too, where the cause decides it
  // Of a warning that says why a file cannot tell; empty: it says nothing of the kind.
  [[nodiscard]] std::string reason_of(std::string_view warning) const;
  // Of a refusal that contains one of the ids.
  [[nodiscard]] std::string reason_in(std::string_view refusal) const;

 private:
  std::map<std::string, std::string, std::less<>> classes_, reasons_;
  std::map<std::string, Word, std::less<>> causes_;
};

// What the program said of one case, in words of the corpus.
struct Answer {
  std::string class_id;              // first class; "cannot-tell" where it gives none
  std::string second;                // second class; empty: none
  std::string cause;                 // empty: none named
  std::string frame;                 // the host's event that the cause names; empty: none
  std::vector<std::string> claims;   // what else it claims: "regression", "clock"
  std::optional<double> confidence;  // of the first; empty: none stated
  std::string format;                // of the file: kineto, rocprof
  std::string note;                  // why there is no answer
  std::string evidence_class;        // what the confidence was learned from (data/rules/confidence.yaml); empty: none
  bool operator==(const Answer&) const = default;
};

struct Judgement {
  std::string id, file, kind, split, origin, format, truth_class, truth_cause;
  Answer answer;
  bool asks_class = true;
  bool first = false, in_two = false;  // class
  bool cause = false;
  bool unknown = false;  // no class given, though one is right
  std::vector<std::string> violations;
  // What its confidence speaks of is true: the cause of a gap, else the class.
  [[nodiscard]] bool claim_true() const { return violations.empty() && (kind == "gap" ? cause : first); }
};
Judgement judge(const Case& one, const Answer& answer);

struct Share {
  std::int64_t right = 0, count = 0;
  [[nodiscard]] double ratio() const { return count > 0 ? static_cast<double>(right) / static_cast<double>(count) : 0; }
  void add(bool good) { right += good ? 1 : 0, ++count; }
};

struct ReliabilityBin {
  double low = 0, high = 0;  // confidences
  std::int64_t count = 0;
  double confidence = 0, right_ratio = 0;  // mean; share of true claims
};
struct Reliability {
  std::vector<ReliabilityBin> bins;  // ten of equal width, those without claims left out
  std::int64_t claims = 0;
  double error_ratio = 0;    // expected calibration error
  double low = 0, high = 0;  // 95 %: whole files drawn again
};
// Files are drawn with a fixed seed, so that the same judgements give the same interval.
Reliability reliability(const std::vector<Judgement>& judgements);

struct Tally {
  Share first, in_two, cause, unknown;
  std::int64_t violations = 0, sure_and_wrong = 0;
};
struct Score {
  Tally all;
  std::map<std::string, std::map<std::string, Tally>> groups;  // "kind" -> "gap" -> ...
  Reliability calibration;
  std::vector<Judgement> sure_and_wrong;  // stated above 90 % and false
  std::vector<Judgement> violations;      // that claim what must not be claimed
};
// By kind, class, cause, format and origin.
Score score_of(const std::vector<Judgement>& judgements);

core::Json to_json(const Judgement& judgement);
core::Json to_json(const Score& score, bool by_name);

}  // namespace aaco::laboratory::corpus

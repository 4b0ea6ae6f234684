#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workflows/ab_worker.h"
#include "workflows/diff.h"

namespace aaco::workflows {

struct AbRequest {
  AbSide a, b;
  std::vector<std::string> a_words, b_words;   // the options that sides were made of, for the measuring process
  std::vector<std::string> worker;             // program and verb that call serve_ab(); the sides' options come behind it
  core::Nanoseconds duration{60'000'000'000};  // for each side, loading and warm-up included
  std::optional<std::int64_t> iterations;      // or so many calls of each side, whatever comes first
  double threshold_ratio = 0.02;
  double level = 0.95;
  double power = 0.8;
  // Go on until so large an increase would be decided, even where it is decided before; above the threshold. Empty: 3 % beyond
  // it.
  std::optional<double> detectable_ratio;
  std::optional<core::Nanoseconds> block;  // of one side before the other has its turn; empty: 50 ms, less in a short comparison
  bool apart = false;                      // each side in a process of its own
  bool force = false;                      // compare even other shapes or batches
  bool store = true;
  std::string tag;
};

// One life of the measuring processes.
struct AbRound {
  double change_ratio = 0;
  std::int64_t pairs = 0;
  bool b_first = false;  // loaded first, and first in turn
  double a_median_ns = 0, b_median_ns = 0;
};

struct AbOutcome {
  DiffOutcome verdict;
  std::vector<AbRound> rounds;
  std::vector<std::string> lost_rounds;  // why: a measuring process that ended by itself
  std::string ended;                     // why measuring ended
  bool together = true;                  // both sides lived in one process
  bool interrupted = false;
  std::int64_t wall_ns = 0;
  std::optional<SessionOutcome> a, b;
};

}  // namespace aaco::workflows

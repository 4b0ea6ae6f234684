#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class MarkdownPage;
class TextPage;
struct ReportModel;

// What a search for a better configuration tried, and what it proved.
struct Search {
  struct Trial {
    std::string label;    // "threads=2 spinning=off"; "baseline"
    std::string outcome;  // baseline, ok, winner, offered, failed, timed_out, tolerance, slo
    std::string reason;   // why it is out
    std::optional<double> median_ns, p99_ns, items_per_second;
    std::optional<std::int64_t> rss_peak_bytes;
    std::optional<double> output_error_ratio;  // largest error over the RMS of the output; 0 for the baseline
    std::optional<double> change_ratio;        // of what the search improves, against the baseline
    bool pareto = false;                       // nothing else is better in latency, throughput, memory and output error
  };
  struct Proof {
    std::string configuration, metric, verdict;
    double change_ratio = 0;
    std::optional<double> low, high;  // 95 % interval
    std::optional<double> smallest_detectable_ratio;
    std::int64_t rounds = 0;
  };
  struct Part {
    std::string change;        // "spinning=off"
    double without_ratio = 0;  // of the time per item (or the memory), if it is left out
  };
  std::string objective;  // latency, throughput, memory, energy
  std::string summary, recommendation, inputs;
  std::int64_t configurations = 0, tried = 0, failed = 0, out_of_tolerance = 0;
  std::optional<Proof> proof;
  std::vector<Part> parts;
  std::vector<Trial> trials;  // the baseline, then the best first, then those that are out
};

core::Json to_json(const Search& section);
void write_text(TextPage& page, const Search& section, const ReportModel& model);
void write_markdown(MarkdownPage& page, const Search& section);

}  // namespace aaco::report

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "trace/metric.h"

namespace aaco::report {

class MarkdownPage;
class TextPage;
struct ReportModel;

// What a load on a language-model server showed, level by level.
struct Llm {
  struct Level {
    std::string load;  // "concurrency 4", "rate 12.5/s", "replay"
    std::int64_t requests = 0, complete = 0;
    std::int64_t retries = 0, usage_rejected = 0;  // responses whose usage is impossible
    std::vector<std::pair<std::string, std::int64_t>> failures;
    trace::Metrics metrics;                                         // llm.*
    std::vector<std::string> client_limit;                          // why the client may have moved results; empty: it did not
    std::string client_verdict;                                     // of such a client, as analytics::llm::verdict_of has it
    std::optional<double> vouched_per_second;                       // then: the rate it can vouch for
    bool client_unknown = false;                                    // its state was not recorded
    std::string partly_judged;                                      // as analytics::llm::partly_judged has it; empty: all were
    std::string handshakes;                                         // of TLS, a sentence; empty: none
    std::vector<std::string> connection_waits;                      // results that waits of connections moved, a sentence each
    std::vector<std::string> server_causes;                         // why the server was slow, a sentence each
    std::int64_t slow_tokens = 0;                                   // first tokens and gaps that took far longer than usual
    std::vector<std::pair<std::string, std::int64_t>> slow_causes;  // what these waited for, the most frequent first
  };
  // One of the slowest requests, and where its time went.
  struct SlowRequest {
    std::int64_t request = 0;
    std::string load;
    double e2el_ns = 0;
    double client_queue_ns = 0;            // until it was sent, with failed attempts for the last time
    std::int64_t resent = 0;               // failed attempts before
    std::optional<double> first_token_ns;  // from the send to the first token
    std::optional<double> longest_gap_ns;  // between two chunks
    std::optional<std::int64_t> output_tokens;
    std::vector<double> chunk_ns;  // times of its chunks, from when it was due
    std::string cause;             // of its slowest token; empty: unknown
  };
  std::string summary, slo, knee, counts;  // counts: the level that the headline is about
  std::vector<Level> levels;
  std::vector<SlowRequest> slow;
};

core::Json to_json(const Llm& section);
void write_text(TextPage& page, const Llm& section, const ReportModel& model);
void write_markdown(MarkdownPage& page, const Llm& section);

}  // namespace aaco::report

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aaco::workflows {

// A load on a language-model server. Texts are as the command line has them; each is checked before anything is sent.
struct LlmRequest {
  std::string url;    // http://host:port/v1
  std::string model;  // empty: the first one that the server lists
  std::string api = "chat";

  // The load: one or several levels of concurrency, or of rate (requests per second), or a trace. None: concurrency 1.
  std::vector<std::int64_t> concurrency;
  std::vector<double> rates;
  std::string replay;  // file
  std::string arrivals = "poisson";
  std::optional<double> replay_speed;           // 2: twice as fast
  std::optional<std::int64_t> ramp_ns;          // of a rate, from 0
  std::optional<std::int64_t> max_open;         // cap on open requests
  std::optional<std::int64_t> requests;         // of each level
  std::optional<std::int64_t> duration_ns;      // of each level
  std::optional<std::int64_t> warmup;           // requests; empty: as many as are open at once, at most 16
  bool until_limit = false;                     // end the levels when the SLO is broken or throughput no longer grows
  std::optional<std::int64_t> cancel_after_ns;  // of each request

  std::string prompt_tokens = "512", output_tokens = "128";
  std::string prompts;  // file
  std::int64_t shared_prefix_tokens = 0;
  std::int64_t turns = 1;  // of a conversation: each request repeats what was said before
  bool ignore_eos = true, continuous_usage = false;

  std::string slo;
  std::string definitions;               // vllm, guidellm, aiperf, with commas between
  std::optional<double> price_per_hour;  // of the server
  std::uint64_t seed = 1;
  std::int64_t timeout_ns = 600'000'000'000;
  std::int64_t retries = 0;
  std::string api_key_file, ca_file;
  std::string tokenizer;  // tokenizer.json, to count tokens where the server does not
  std::vector<std::string> headers;
  bool keep_chunks = true, telemetry = true;
  bool ebpf = false;    // scheduler events of the server's processes, where it runs on this machine
  std::string observe;  // a session that `aaco record` makes on the server's machine at the same time
  bool read_server_metrics = true;
  std::string server_metrics;  // URL of the server's Prometheus metrics; empty: /metrics of the server, where it has them
  std::string tag;
};

}  // namespace aaco::workflows

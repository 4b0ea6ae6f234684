#pragma once

#include <string_view>

// Time of collectives between GPUs. Ring: every rank sends and receives 2 (n - 1) / n of the buffer in 2 (n - 1) steps; tree:
// twice the buffer in 2 log2(n) steps (Thakur, Rabenseifner, Gropp, Int. J. High Perf. Comp. Appl. 19, 2005; NCCL 2.4, double
// binary trees). One-shot: every rank reads the n - 1 other buffers in one step; two-shot: reduce-scatter and all-gather in two
// (custom all-reduce of vLLM and TensorRT-LLM).
namespace aaco::estimation {

struct Collective {
  double seconds = 0;   // of its bytes at the link's rate
  double messages = 0;  // latencies, one after the other
  std::string_view algorithm;
};

// The fastest algorithm at `latency_s` per message. One rank: nothing.
Collective all_reduce(double bytes, double ranks, double link_bytes_per_s, double latency_s, bool direct_links);
// `bytes`: what one rank sends to all others together.
Collective all_to_all(double bytes, double ranks, double link_bytes_per_s);

}  // namespace aaco::estimation

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/source.h"

// A PyTorch trace of any size, made on the fly by repeating a pattern of events with new times and ids.
namespace aaco::bench {

// One launch of the framework: operator, runtime call, arrow, kernel, arrow. T is a time, I an id: 16 and 10 digits.
inline constexpr std::string_view kPattern =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 950, "tid": 950, "ts": TTTTTTTTTTTTTTTT.308, "dur": 22.511, "args": {"External id": IIIIIIIIII, "Record function id": 0, "Concrete Inputs": ["", "", "", "1", "1"], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"], "Input Strides": [[1], [768, 1], [1, 768], [], []], "Input Dims": [[768], [788, 768], [768, 768], [], []], "Ev Idx": 1381}},
{"ph": "X", "cat": "cuda_runtime", "name": "hipExtModuleLaunchKernel", "pid": 950, "tid": 950, "ts": TTTTTTTTTTTTTTTT.712, "dur": 8.702, "args": {"External id": IIIIIIIIII, "kernel": "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1", "cid": 65, "correlation": IIIIIIIIII, "grid": [10752, 1, 1], "block": [256, 1, 1], "shared memory": 0}},
{"ph": "s", "id": IIIIIIIIII, "pid": 950, "tid": 950, "ts": TTTTTTTTTTTTTTTT.712, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "kernel", "name": "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1", "pid": 2, "tid": 0, "ts": TTTTTTTTTTTTTTTT.156, "dur": 14.008, "args": {"External id": IIIIIIIIII, "device": 2, "stream": 0, "correlation": IIIIIIIIII, "kind": "Dispatch Kernel", "grid": [10752, 1, 1], "block": [256, 1, 1]}},
{"ph": "f", "id": IIIIIIIIII, "pid": 2, "tid": 0, "ts": TTTTTTTTTTTTTTTT.156, "cat": "ac2g", "name": "ac2g", "bp": "e"},
)";
inline constexpr std::int64_t kEventsOfPattern = 5;
inline constexpr std::string_view kHead =
    R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}], "traceEvents": [
)";
inline constexpr std::string_view kTail = "{}],\n\"distributedInfo\": {\"rank\": 0}}\n";

class PatternSource final : public trace::ByteSource {
 public:
  explicit PatternSource(std::int64_t bytes) : patterns_(bytes / static_cast<std::int64_t>(kPattern.size())), text_(kPattern) {
    for (std::size_t at = 0; at < kPattern.size(); ++at) {
      if (kPattern.substr(at).starts_with("TTTTTTTTTTTTTTTT"))
        times_.push_back(at), at += 15;
      else if (kPattern.substr(at).starts_with("IIIIIIIIII"))
        ids_.push_back(at), at += 9;
    }
  }
  core::Result<std::size_t> read(std::span<char> into) override {
    std::size_t size = 0;
    while (size < into.size() && !current_.empty()) {
      const std::size_t count = current_.copy(into.data() + size, into.size() - size);
      size += count;
      current_.remove_prefix(count);
      if (current_.empty()) next();
    }
    return size;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::string path() const override { return {}; }
  [[nodiscard]] std::int64_t events() const { return patterns_ * kEventsOfPattern; }
  [[nodiscard]] std::int64_t patterns() const { return patterns_; }

 private:
  void put(std::size_t at, std::size_t digits, std::int64_t value) {
    for (std::size_t i = digits; i-- > 0; value /= 10) text_[at + i] = static_cast<char>('0' + value % 10);
  }
  void next() {
    if (made_ > patterns_) return;
    if (made_++ == patterns_) {
      current_ = kTail;
      return;
    }
    for (std::size_t at : times_) put(at, 16, 1'751'410'836'000'000 + 30 * made_);
    for (std::size_t at : ids_) put(at, 10, 1'000'000'000 + made_);
    current_ = text_;
  }

  std::string name_ = "a repeated pattern";
  std::int64_t patterns_;
  std::int64_t made_ = 0;
  std::string text_;
  std::vector<std::size_t> times_, ids_;
  std::string_view current_ = kHead;
};

}  // namespace aaco::bench

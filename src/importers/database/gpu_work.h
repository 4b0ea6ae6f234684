#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "trace/sink.h"

namespace aaco::importers {

// Adds kernels; one of a communication library is a collective as well.
class KernelSink {
 public:
  explicit KernelSink(trace::Sink& sink) : sink_(sink) {}
  // `text` gives the text of row.name; it is asked once a name.
  void add(const trace::KernelRow& row, const std::function<std::string()>& text);

 private:
  trace::Sink& sink_;
  std::unordered_map<std::uint32_t, std::optional<trace::NameId>> operations_;  // by the kernel's name
};

// Arguments and other texts that may never repeat: the first kMax different ones are kept.
class BoundedTexts {
 public:
  explicit BoundedTexts(trace::Sink& sink) : sink_(sink) {}
  trace::NameId name(const std::string& text);
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }
  static constexpr std::size_t kMax = 10'000;

 private:
  trace::Sink& sink_;
  std::unordered_map<std::string, trace::NameId> known_;
  std::int64_t left_out_ = 0;
};

}  // namespace aaco::importers

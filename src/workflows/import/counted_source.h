#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/numbers.h"
#include "trace/source.h"

namespace aaco::workflows {

// A source that tells how fast it is read, a few times per second.
class CountedSource final : public trace::ByteSource {
 public:
  CountedSource(trace::ByteSource& source, std::string what, const std::function<void(std::string_view)>& progress)
      : source_(source), what_(std::move(what)), progress_(progress), begin_ns_(core::monotonic_ns()), told_ns_(begin_ns_) {}

  core::Result<std::size_t> read(std::span<char> into) override {
    auto count = source_.read(into);
    if (count) bytes_ += static_cast<std::int64_t>(*count);
    const std::int64_t now_ns = core::monotonic_ns();
    if (now_ns - told_ns_ >= kPeriod_ns) {
      told_ns_ = now_ns;
      const auto bytes = static_cast<double>(bytes_);
      progress_("importing " + what_ + ": " + core::format_bytes(bytes) + ", " +
                core::format_bytes(bytes * 1e9 / static_cast<double>(now_ns - begin_ns_)) + "/s");
    }
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return source_.name(); }
  [[nodiscard]] std::string path() const override { return source_.path(); }
  [[nodiscard]] std::string damage() const override { return source_.damage(); }

 private:
  static constexpr std::int64_t kPeriod_ns = 250'000'000;
  trace::ByteSource& source_;
  std::string what_;
  const std::function<void(std::string_view)>& progress_;
  std::int64_t bytes_ = 0, begin_ns_, told_ns_;
};

}  // namespace aaco::workflows

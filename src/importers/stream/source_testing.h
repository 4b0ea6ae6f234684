#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "trace/source.h"

namespace aaco::importers {

// A text as a source, handed out at most `step` bytes at a time.
class TextSource final : public trace::ByteSource {
 public:
  explicit TextSource(std::string text, std::size_t step = SIZE_MAX) : text_(std::move(text)), step_(step) {}
  core::Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = text_.copy(into.data(), std::min(into.size(), step_), at_);
    at_ += count;
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::string path() const override { return {}; }

 private:
  std::string name_ = "text";
  std::string text_;
  std::size_t step_;
  std::size_t at_ = 0;
};

}  // namespace aaco::importers

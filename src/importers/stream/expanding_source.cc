#include "importers/stream/expanding_source.h"

#include <vector>

namespace aaco::importers {
namespace {

constexpr std::size_t kInputBytes = std::size_t{256} << 10;

class ExpandingSource final : public trace::ByteSource {
 public:
  ExpandingSource(std::unique_ptr<trace::ByteSource> packed, formats::Compression kind, const ExpansionLimits& limits)
      : packed_(std::move(packed)),
        kind_(kind),
        limits_(limits),
        decoder_(formats::make_decompressor(kind)),
        input_(kInputBytes) {}

  core::Result<std::size_t> read(std::span<char> into) override {
    while (!ended_ && !into.empty()) {
      AACO_TRY(refill());
      auto step = decoder_->step({input_.data() + at_, size_ - at_}, into);
      if (!step) {
        end_with(step.error().message);
        break;
      }
      at_ += step->consumed;
      if (step->consumed > 0 || step->produced > 0) whole_ = step->at_boundary;
      if (step->produced > 0) {
        produced_ += static_cast<std::int64_t>(step->produced);
        AACO_TRY(check_limits());
        return step->produced;
      }
      if (step->consumed == 0 && at_ < size_) {
        end_with("the decompressor makes no progress");
      } else if (input_ended_ && at_ == size_) {
        if (whole_)
          ended_ = true;
        else
          end_with("the compressed data ends early");
      }
    }
    return std::size_t{0};
  }
  [[nodiscard]] const std::string& name() const override { return packed_->name(); }
  [[nodiscard]] std::string path() const override { return {}; }
  [[nodiscard]] std::string damage() const override { return damage_; }

 private:
  core::Status refill() {
    if (at_ < size_ || input_ended_) return {};
    AACO_ASSIGN(size_, packed_->read(input_));
    at_ = 0;
    read_ += static_cast<std::int64_t>(size_);
    input_ended_ = size_ == 0;
    return {};
  }
  void end_with(const std::string& why) {
    ended_ = true;
    damage_ = why + ", after " + std::to_string(produced_) + " decompressed bytes";
  }
  core::Status check_limits() const {
    if (produced_ <= limits_.always_allowed_bytes) return {};
    if (produced_ <= limits_.largest_bytes && produced_ / limits_.largest_ratio <= read_) return {};
    return core::fail(core::ErrorCode::exhausted,
                      packed_->name() + ": " + std::to_string(read_) + " bytes of " + std::string(to_string(kind_)) +
                          " expand to more than " + std::to_string(produced_) + ": treated as a decompression bomb",
                      "if it is a genuine trace, decompress it first and import the plain file");
  }

  std::unique_ptr<trace::ByteSource> packed_;
  formats::Compression kind_;
  ExpansionLimits limits_;
  std::unique_ptr<formats::Decompressor> decoder_;
  std::vector<char> input_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::int64_t read_ = 0;
  std::int64_t produced_ = 0;
  bool input_ended_ = false;
  bool whole_ = false;  // at a boundary of the format
  bool ended_ = false;
  std::string damage_;
};

}  // namespace

std::unique_ptr<trace::ByteSource> make_expanding_source(std::unique_ptr<trace::ByteSource> packed, formats::Compression kind,
                                                         const ExpansionLimits& limits) {
  return std::make_unique<ExpandingSource>(std::move(packed), kind, limits);
}

}  // namespace aaco::importers

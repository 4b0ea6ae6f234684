#include "importers/stream/messages.h"

#include <algorithm>

namespace aaco::importers {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Wire;

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kMaxHead = 20;  // two varints of ten bytes

// Bytes that are there but not used.
class MessageWindow {
 public:
  explicit MessageWindow(trace::ByteSource& source) : source_(source) {}

  // Reads until `bytes` are there or the source has ended.
  core::Status want(std::size_t bytes) {
    while (text_.size() - at_ < bytes && !ended_) {
      if (at_ > kPiece) {
        text_.erase(0, at_);
        at_ = 0;
      }
      const std::size_t old = text_.size();
      text_.resize(old + std::clamp(bytes - (old - at_), std::size_t{1}, kPiece));
      AACO_ASSIGN(const std::size_t count, source_.read({text_.data() + old, text_.size() - old}));
      text_.resize(old + count);
      ended_ = count == 0;
    }
    return {};
  }
  [[nodiscard]] std::string_view text() const { return std::string_view(text_).substr(at_); }
  void use(std::size_t bytes) {
    at_ += bytes;
    used_ += static_cast<std::int64_t>(bytes);
  }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  trace::ByteSource& source_;
  std::string text_;
  std::size_t at_ = 0;
  std::int64_t used_ = 0;
  bool ended_ = false;
};

core::Result<bool> skip(MessageWindow& window, std::uint64_t bytes) {
  while (bytes > 0) {
    const std::size_t some = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPiece));
    AACO_TRY(window.want(some));
    const std::size_t there = std::min(some, window.text().size());
    if (there == 0) return false;
    window.use(there);
    bytes -= there;
  }
  return true;
}

}  // namespace

core::Result<MessagesEnd> read_messages(trace::ByteSource& source, std::size_t max_bytes,
                                        const std::function<core::Status(const Field&, bool)>& visit) {
  MessageWindow window(source);
  MessagesEnd end;
  const auto ended = [&](std::string why) {
    end.bytes = window.used();
    end.complete = why.empty();
    end.trouble = std::move(why);
    return end;
  };
  for (;;) {
    AACO_TRY(window.want(kMaxHead));
    std::string_view head = window.text();
    if (head.empty()) return ended({});
    const std::size_t before = head.size();
    const auto key = formats::protobuf::take_varint(head);
    if (!key || *key >> 3U == 0) return ended(before < kMaxHead ? "the file ends inside a field" : "invalid field");
    if ((*key & 7U) != 2) {
      formats::protobuf::Message message(window.text().substr(0, std::min(before, kMaxHead)));
      Field field;
      if (!message.next(field)) return ended(before < kMaxHead ? "the file ends inside a field" : "invalid field");
      // Its size: what a message of this field alone has.
      const std::size_t key_bytes = before - head.size();
      std::string_view value = head;
      const std::size_t value_bytes = field.wire == Wire::fixed64 ? 8
                                      : field.wire == Wire::fixed32
                                          ? 4
                                          : (formats::protobuf::take_varint(value), head.size() - value.size());
      AACO_TRY(visit(field, false));
      window.use(key_bytes + value_bytes);
      ++end.fields;
      continue;
    }
    const auto length = formats::protobuf::take_varint(head);
    if (!length) return ended(before < kMaxHead ? "the file ends inside a field" : "invalid length");
    window.use(before - head.size());
    if (*length > max_bytes) {
      ++end.oversized;
      AACO_ASSIGN(const bool whole, skip(window, *length));
      if (!whole) return ended("the file ends inside a field of " + std::to_string(*length) + " bytes");
      continue;
    }
    AACO_TRY(window.want(static_cast<std::size_t>(*length)));
    Field field{static_cast<std::uint32_t>(*key >> 3U), Wire::bytes, 0, window.text().substr(0, *length)};
    const bool cut = field.bytes.size() < *length;
    AACO_TRY(visit(field, cut));
    window.use(field.bytes.size());
    if (cut) return ended("the file ends inside a field");
    ++end.fields;
  }
}

}  // namespace aaco::importers

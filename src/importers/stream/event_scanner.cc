#include "importers/event_scanner.h"

#include <algorithm>
#include <vector>

namespace aaco::importers {
namespace {

using core::ErrorCode;

constexpr std::size_t kWindow = std::size_t{4} << 20;
constexpr std::size_t kPadding = 64;
constexpr std::string_view kArrayKey = "\"traceEvents\"";

// The bytes read and not yet done with, always followed by padding.
class Window {
 public:
  explicit Window(trace::ByteSource& source) : source_(source) {}

  // Drops everything before `keep_from` and reads more behind the rest; 0 at the end of the source.
  core::Result<std::size_t> refill(std::size_t keep_from) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(keep_from));
    size_ -= keep_from;
    buffer_.resize(size_ + kWindow + kPadding);
    AACO_ASSIGN(const std::size_t count, source_.read({buffer_.data() + size_, kWindow}));
    size_ += count;
    total_ += static_cast<std::int64_t>(count);
    std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(size_), kPadding, '\0');
    return count;
  }
  [[nodiscard]] std::string_view text() const { return {buffer_.data(), size_}; }
  [[nodiscard]] std::int64_t total() const { return total_; }

 private:
  trace::ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::int64_t total_ = 0;
};

// Where the array of events begins within the head of the document, just behind its bracket.
core::Result<std::size_t> find_array(std::string_view head, const std::string& name) {
  const auto first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return core::fail(ErrorCode::invalid_input, name + ": the file is empty");
  if (head[first] == '[') return first + 1;
  const auto key = head.find(kArrayKey);
  if (head[first] == '{' && key != std::string_view::npos) {
    const auto bracket = head.find('[', key + kArrayKey.size());
    if (bracket != std::string_view::npos) return bracket + 1;
  }
  return core::fail(ErrorCode::invalid_input, name + ": neither a JSON array of events nor an object with traceEvents");
}

}  // namespace

core::Result<ScanEnd> scan_events(trace::ByteSource& source, const std::function<core::Status(std::string_view)>& visit,
                                  std::int64_t element_limit_bytes) {
  Window window(source);
  AACO_TRY(window.refill(0));
  AACO_ASSIGN(std::size_t at, find_array(window.text(), source.name()));
  std::size_t begin = std::string_view::npos;  // of the element under way
  int depth = 0;
  bool in_string = false;
  bool escaped = false;
  ScanEnd end;
  for (;;) {
    const std::string_view text = window.text();
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (in_string) {
        if (escaped)
          escaped = false;
        else if (c == '\\')
          escaped = true;
        else if (c == '"')
          in_string = false;
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        if (depth++ == 0) begin = at;
      } else if (c == '}' || c == ']') {
        if (depth == 0) {
          end.complete = true;
          end.bytes = window.total();
          return end;
        }
        if (--depth == 0) {
          AACO_TRY(visit(text.substr(begin, at + 1 - begin)));
          begin = std::string_view::npos;
        }
      }
    }
    const std::size_t keep = begin == std::string_view::npos ? at : begin;
    if (static_cast<std::int64_t>(at - keep) > element_limit_bytes)
      return core::fail(ErrorCode::exhausted,
                        source.name() + ": one event is larger than " + std::to_string(element_limit_bytes) + " bytes");
    AACO_ASSIGN(const std::size_t more, window.refill(keep));
    at -= keep;
    if (begin != std::string_view::npos) begin = 0;
    if (more == 0) {
      end.bytes = window.total();
      end.cut_bytes = static_cast<std::int64_t>(at);
      return end;
    }
  }
}

}  // namespace aaco::importers

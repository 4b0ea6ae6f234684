#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::serving {

inline constexpr std::size_t kMaxEventBytes = std::size_t{16} << 20;  // a whole answer in one event stays below it

// Takes a text/event-stream apart (HTML standard, section 9.2): LF, CRLF and CR line ends, comments, several data lines per
// event, events cut at any byte. `id` and `retry` are ignored.
class EventStream {
 public:
  // Calls on_event(event, data) for each event that is complete. The views are valid within the call. Fails with exhausted on an
  // event above kMaxEventBytes.
  template <class OnEvent>
  core::Status feed(std::string_view bytes, OnEvent&& on_event);
  // At the end of the stream: whether an event was begun and not completed.
  [[nodiscard]] bool incomplete() const { return !line_.empty() || has_data_; }
  // At the end of the stream: the data of the event that was begun, which the standard drops.
  std::string_view unfinished();
  [[nodiscard]] std::int64_t comments() const { return comments_; }

 private:
  // Takes one line without its end; true where it completes an event with data.
  bool take_line(std::string_view line);
  void clear_event();
  static tl::unexpected<core::Error> oversized();

  std::string line_;  // the beginning of a line that is not complete
  std::string data_, event_;
  bool has_data_ = false, at_start_ = true, skip_lf_ = false;
  std::int64_t comments_ = 0;
};

template <class OnEvent>
core::Status EventStream::feed(std::string_view bytes, OnEvent&& on_event) {
  while (!bytes.empty()) {
    if (skip_lf_) {
      skip_lf_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    // Two searches for a byte each cost a tenth of one for any of two.
    std::size_t end = bytes.find('\n');
    end = std::min(end, bytes.substr(0, end).find('\r'));
    if (end == std::string_view::npos) {
      line_ += bytes;
      if (line_.size() > kMaxEventBytes) return oversized();
      break;
    }
    skip_lf_ = bytes[end] == '\r';
    std::string_view line = bytes.substr(0, end);
    if (!line_.empty()) line = line_ += line;
    if (line.size() + data_.size() > kMaxEventBytes) return oversized();
    if (take_line(line)) {
      on_event(std::string_view(event_), std::string_view(data_));
      clear_event();
    }
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace aaco::serving

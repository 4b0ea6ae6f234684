#include "serving/event_stream.h"

#include <fmt/format.h>

#include <utility>

namespace aaco::serving {

bool EventStream::take_line(std::string_view line) {
  if (at_start_) {
    at_start_ = false;
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // byte order mark
  }
  if (line.empty()) {
    if (has_data_) return true;
    event_.clear();  // an event without data is not dispatched
    return false;
  }
  if (line.front() == ':') {
    ++comments_;
    return false;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (field == "error" && !has_data_) {  // llama.cpp's form of an error until 2025
    event_ = field;
    data_ = value;
    has_data_ = true;
  } else if (field == "event") {
    event_ = value;
  }
  return false;
}

std::string_view EventStream::unfinished() {
  const std::string line = std::exchange(line_, {});
  if (!line.empty()) take_line(line);
  return data_;
}

void EventStream::clear_event() {
  data_.clear();
  event_.clear();
  has_data_ = false;
}

tl::unexpected<core::Error> EventStream::oversized() {
  return core::fail(core::ErrorCode::exhausted,
                    fmt::format("an event of the stream is larger than {} MiB", kMaxEventBytes >> 20));
}

}  // namespace aaco::serving

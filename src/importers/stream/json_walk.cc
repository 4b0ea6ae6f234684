#include "importers/stream/json_walk.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace aaco::importers {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kDeepest = 64;  // containers that are entered; visitors enter a handful

class Walk {
 public:
  explicit Walk(JsonVisitor& visitor) : visitor_(visitor) {}

  // Moves `at` behind what is done with; the rest must stand at the front of the next window.
  void take(const char*& at, const char* end) {
    while (!done_ && step(at, end)) {
    }
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] WalkEnd& end() { return end_; }
  [[nodiscard]] std::string place() const {
    if (!begun_) return "before it begins";
    return "inside the document, " + std::to_string(stack_.size()) + " levels deep";
  }

 private:
  struct Frame {
    int tag = 0;
    bool is_array = false;
  };

  bool damaged(std::string_view what) {
    end_.trouble = std::string(what) + " " + place();
    done_ = true;
    return false;
  }

  // One value, member or closing bracket; false where more text is needed or nothing follows.
  bool step(const char*& at, const char* end) {
    const char* p = at;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t' || (begun_ && *p == ','))) ++p;
    at = p;
    if (p >= end) return false;
    if (!begun_) {
      begun_ = true;
      if (*p != '{' && *p != '[') return damaged("what stands there is no JSON object or array,");
      return open(at, end, p, {});
    }
    const Frame& frame = stack_.back();
    if (*p == (frame.is_array ? ']' : '}')) {
      at = p + 1;
      visitor_.leave(frame.tag);
      stack_.pop_back();
      done_ = stack_.empty();
      end_.complete = done_;
      return !done_;
    }
    if (frame.is_array) return open(at, end, p, {});
    if (*p != '"') return damaged("what stands there is no JSON,");
    bool escaped = false;
    const char* key = p + 1;
    const char* key_end = find_quote(key, end, escaped);
    if (key_end == nullptr) return false;
    p = skip_space(key_end + 1, end);
    if (p >= end) return false;
    if (*p != ':') return damaged("a member without a value");
    p = skip_space(p + 1, end);
    if (p >= end) return false;
    return open(at, end, p, std::string_view(key, static_cast<std::size_t>(key_end - key)));
  }

  // The value at `p`: entered, or handed out whole.
  bool open(const char*& at, const char* end, const char* p, std::string_view key) {
    const int parent = stack_.empty() ? 0 : stack_.back().tag;
    if ((*p == '{' || *p == '[') && stack_.size() < kDeepest) {
      if (const int tag = visitor_.enter(parent, key, *p == '['); tag != 0) {
        stack_.push_back({tag, *p == '['});
        at = p + 1;
        return true;
      }
    }
    const char* behind = skip_value(p, end);
    if (behind == nullptr) return false;
    if (behind == p) return damaged("what stands there is no JSON,");
    visitor_.value(parent, key, std::string_view(p, static_cast<std::size_t>(behind - p)));
    at = behind;
    done_ = stack_.empty();  // the whole document was that value
    end_.complete = done_;
    return !done_;
  }

  JsonVisitor& visitor_;
  std::vector<Frame> stack_;
  WalkEnd end_;
  bool begun_ = false;
  bool done_ = false;
};

struct Window {
  std::unique_ptr<char[]> text;
  std::size_t capacity = 0;
  std::size_t size = 0;

  void reserve(std::size_t bytes) {
    if (bytes <= capacity) return;
    std::unique_ptr<char[]> larger(new char[bytes + kSkimPadding]);
    if (size > 0) std::memcpy(larger.get(), text.get(), size);
    text = std::move(larger);
    capacity = bytes;
  }
};

}  // namespace

core::Result<WalkEnd> walk_json(trace::ByteSource& source, JsonVisitor& visitor, const ReadLimits& limits) {
  Walk walk(visitor);
  Window window;
  window.reserve(limits.window_bytes);
  bool first = true;
  for (bool more = true; more;) {
    while (more && window.size < window.capacity) {
      AACO_ASSIGN(const std::size_t count, source.read({window.text.get() + window.size, window.capacity - window.size}));
      window.size += count;
      walk.end().bytes += static_cast<std::int64_t>(count);
      more = count > 0;
    }
    std::memset(window.text.get() + window.size, 0, kSkimPadding);
    const char* at = window.text.get();
    const char* const end = at + window.size;
    if (first && std::string_view(at, window.size).starts_with(kByteOrderMark)) at += kByteOrderMark.size();
    first = false;
    walk.take(at, end);
    AACO_TRY(visitor.status());
    if (walk.done()) {  // what follows is read too: only at its end does a compressed source know whether it is whole
      if (walk.end().complete) walk.end().trailing += std::count_if(at, end, [](unsigned char c) { return c > ' '; });
      window.size = 0;
      continue;
    }
    const auto rest = static_cast<std::size_t>(end - at);
    if (more && rest == window.capacity) {
      if (window.capacity >= limits.value_bytes) {
        walk.end().trouble = "a single value is larger than " + std::to_string(limits.value_bytes) + " bytes";
        return std::move(walk.end());
      }
      window.reserve(2 * window.capacity);
      continue;
    }
    if (rest > 0) std::memmove(window.text.get(), at, rest);
    window.size = rest;
  }
  if (walk.end().bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  if (!walk.done()) walk.end().trouble = "the text ends " + walk.place();
  return std::move(walk.end());
}

}  // namespace aaco::importers

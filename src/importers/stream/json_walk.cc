#include "importers/stream/json_walk.h"

#include <algorithm>
#include <vector>

#include "importers/stream/byte_order_mark.h"
#include "importers/stream/text_window.h"
#include "importers/stream/work_ahead.h"

namespace aaco::importers {
namespace {

constexpr std::size_t kDeepest = 64;  // containers that are entered; visitors enter a handful
// A window of the smallest values has steps of 28 times its size.
constexpr std::size_t kLargestWindow = std::size_t{1} << 20;

// A call of the visitor.
struct Step {
  enum class Kind : std::uint8_t { enter, value, leave };
  Kind kind = Kind::value;
  int tag = 0;  // of a value: its container's
  std::string_view key, text;
};

// A piece of text and the calls that it makes.
struct StepBatch : TextWindow {
  std::vector<Step> steps;
};

class Walk {
 public:
  explicit Walk(const JsonVisitor& visitor) : visitor_(visitor) {}

  // Moves `at` behind what is done with; the rest must stand at the front of the next window.
  void take(const char*& at, const char* end, std::vector<Step>& steps) {
    while (!done_ && step(at, end, steps)) {
    }
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] WalkEnd& end() { return end_; }
  [[nodiscard]] std::string place() const {
    if (!begun_) return "before the document starts";
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
  bool step(const char*& at, const char* end, std::vector<Step>& steps) {
    const char* p = at;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t' || (begun_ && *p == ','))) ++p;
    at = p;
    if (p >= end) return false;
    if (!begun_) {
      begun_ = true;
      if (*p != '{' && *p != '[') return damaged("not a JSON object or array");
      return open(at, end, p, {}, steps);
    }
    const Frame& frame = stack_.back();
    if (*p == (frame.is_array ? ']' : '}')) {
      at = p + 1;
      steps.push_back({Step::Kind::leave, frame.tag, {}, {}});
      stack_.pop_back();
      done_ = stack_.empty();
      end_.complete = done_;
      return !done_;
    }
    if (frame.is_array) return open(at, end, p, {}, steps);
    if (*p != '"') return damaged("invalid JSON");
    bool escaped = false;
    const char* key = p + 1;
    const char* key_end = find_quote(key, end, escaped);
    if (key_end == nullptr) return false;
    p = skip_space(key_end + 1, end);
    if (p >= end) return false;
    if (*p != ':') return damaged("member without a value");
    p = skip_space(p + 1, end);
    if (p >= end) return false;
    return open(at, end, p, std::string_view(key, static_cast<std::size_t>(key_end - key)), steps);
  }

  // The value at `p`: entered, or handed out whole.
  bool open(const char*& at, const char* end, const char* p, std::string_view key, std::vector<Step>& steps) {
    const int parent = stack_.empty() ? 0 : stack_.back().tag;
    if ((*p == '{' || *p == '[') && stack_.size() < kDeepest) {
      if (const int tag = visitor_.tag_of(parent, key, *p == '['); tag != 0) {
        stack_.push_back({tag, *p == '['});
        steps.push_back({Step::Kind::enter, tag, key, {}});
        at = p + 1;
        return true;
      }
    }
    const char* behind = skip_value(p, end);
    if (behind == nullptr) return false;
    if (behind == p) return damaged("invalid JSON");
    steps.push_back({Step::Kind::value, parent, key, std::string_view(p, static_cast<std::size_t>(behind - p))});
    at = behind;
    done_ = stack_.empty();  // the whole document was that value
    end_.complete = done_;
    return !done_;
  }

  const JsonVisitor& visitor_;
  std::vector<Frame> stack_;
  WalkEnd end_;
  bool begun_ = false;
  bool done_ = false;
};

class StepSplitter {
 public:
  StepSplitter(trace::ByteSource& source, Walk& walk, const ReadLimits& limits) : source_(source), walk_(walk), limits_(limits) {}

  // Fills the batch with the next window; false at the end. The rest behind its last whole value goes to the next one.
  core::Result<bool> fill(StepBatch& batch) {
    if (ended_) return false;
    batch.begin_with(rest_, std::min(kLargestWindow, limits_.window_bytes));
    batch.steps.clear();
    const char* at = nullptr;
    std::size_t done = 0;  // of the text: what was taken stays taken when the window grows
    for (;;) {
      AACO_ASSIGN(const bool more, batch.read(source_, walk_.end().bytes));
      at = batch.begin() + done;
      if (first_ && std::string_view(at, batch.size).starts_with(kByteOrderMark)) at += kByteOrderMark.size();
      first_ = false;
      walk_.take(at, batch.end(), batch.steps);
      done = static_cast<std::size_t>(at - batch.begin());
      if (!more || walk_.done() || done > 0) {
        rest_.assign(at, batch.end());
        return walk_.done() ? drain(more) : going_on(more);
      }
      if (batch.size >= limits_.value_bytes) {
        walk_.end().trouble = "a single value is larger than " + std::to_string(limits_.value_bytes) + " bytes";
        ended_ = true;
        return true;
      }
      batch.reserve(2 * batch.size);
    }
  }

 private:
  bool going_on(bool more) {
    ended_ = !more;
    if (ended_) walk_.end().trouble = "the text ends " + walk_.place();
    return true;
  }
  // What follows is read too: only at its end does a compressed source know whether it is whole.
  core::Result<bool> drain(bool more) {
    ended_ = true;
    for (;;) {
      if (walk_.end().complete)
        walk_.end().trailing += std::count_if(rest_.begin(), rest_.end(), [](unsigned char c) { return c > ' '; });
      if (!more) return true;
      rest_.resize(std::size_t{64} << 10);
      AACO_ASSIGN(const std::size_t count, source_.read(rest_));
      rest_.resize(count);
      walk_.end().bytes += static_cast<std::int64_t>(count);
      more = count > 0;
    }
  }

  trace::ByteSource& source_;
  Walk& walk_;
  const ReadLimits& limits_;
  std::string rest_;
  bool first_ = true;
  bool ended_ = false;
};

}  // namespace

core::Result<WalkEnd> walk_json(trace::ByteSource& source, JsonVisitor& visitor, const ReadLimits& limits) {
  Walk walk(visitor);
  StepSplitter splitter(source, walk, limits);
  AACO_TRY(work_ahead<StepBatch>([&](StepBatch& batch) { return splitter.fill(batch); },
                                 [&](const StepBatch& batch) {
                                   for (const Step& step : batch.steps) switch (step.kind) {
                                       case Step::Kind::enter: visitor.enter(step.tag, step.key); break;
                                       case Step::Kind::value: visitor.value(step.tag, step.key, step.text); break;
                                       case Step::Kind::leave: visitor.leave(step.tag); break;
                                     }
                                   return visitor.status();
                                 }));
  if (walk.end().bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  return std::move(walk.end());
}

}  // namespace aaco::importers

#include "importers/stream/trace_document.h"

#include "importers/stream/byte_order_mark.h"

namespace aaco::importers {
namespace {

constexpr std::size_t kLargestMember = std::size_t{4} << 20;

void set_member(TraceEvent& event, std::string_view key, std::string_view value) {
  switch (key.size()) {
    case 2:
      if (key == "ts")
        event.timestamp = unquoted(value);
      else if (key == "ph")
        event.phase = unquoted(value);
      else if (key == "id")
        event.id = unquoted(value);
      break;
    case 3:
      if (key == "dur")
        event.duration = unquoted(value);
      else if (key == "cat")
        event.category = unquoted(value);
      else if (key == "pid")
        event.process = unquoted(value);
      else if (key == "tid")
        event.thread = unquoted(value);
      break;
    case 4:
      if (key == "name")
        event.name = unquoted(value);
      else if (key == "args")
        event.args = value;
      break;
    default: break;
  }
}

}  // namespace

std::string_view TraceDocument::place() const {
  switch (state_) {
    case State::start: return "before the document starts";
    case State::events: return "inside the event array";
    case State::members: return "between the document members";
    case State::done: break;
  }
  return "after the document end";
}

core::Result<TraceDocument::Progress> TraceDocument::take(const char*& begin, const char* end, std::vector<TraceEvent>& events) {
  for (;;) {
    Progress progress = Progress::ended;
    switch (state_) {
      case State::start: {
        AACO_ASSIGN(progress, start(begin, end));
        break;
      }
      case State::members: progress = take_members(begin, end); break;
      case State::events: progress = take_events(begin, end, events); break;
      case State::done: return Progress::ended;
    }
    if (progress == Progress::wants_more) return progress;
  }
}

core::Result<TraceDocument::Progress> TraceDocument::start(const char*& at, const char* end) {
  if (std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(kByteOrderMark)) at += kByteOrderMark.size();
  at = skip_space(at, end);
  if (at >= end) return Progress::wants_more;
  if (*at != '[' && *at != '{')
    return core::fail(core::ErrorCode::invalid_input, "neither a JSON array of events nor an object with traceEvents");
  in_object_ = *at == '{';
  end_.has_events = !in_object_;
  state_ = in_object_ ? State::members : State::events;
  ++at;
  return Progress::ended;
}

TraceDocument::Progress TraceDocument::damaged(std::string_view what) {
  end_.trouble = std::string(what) + " " + std::string(place());
  state_ = State::done;
  return Progress::ended;
}

TraceDocument::Progress TraceDocument::take_members(const char*& at, const char* end) {
  for (;;) {
    const char* p = at;
    while (p < end && (*p == ',' || *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
    at = p;
    if (p >= end) return Progress::wants_more;
    if (*p == '}') {
      ++at;
      end_.complete = true;
      state_ = State::done;
      return Progress::ended;
    }
    if (*p != '"') return damaged("invalid JSON");
    bool escaped = false;
    const char* key = p + 1;
    const char* key_end = find_quote(key, end, escaped);
    if (key_end == nullptr) return Progress::wants_more;
    p = skip_space(key_end + 1, end);
    if (p >= end) return Progress::wants_more;
    if (*p != ':') return damaged("member without a value");
    p = skip_space(p + 1, end);
    if (p >= end) return Progress::wants_more;
    const std::string_view name(key, static_cast<std::size_t>(key_end - key));
    if (name == "traceEvents" && *p == '[') {
      end_.has_events = true;
      state_ = State::events;
      at = p + 1;
      return Progress::ended;
    }
    const char* value_end = skip_value(p, end);
    if (value_end == nullptr) return Progress::wants_more;
    if (value_end == p) return damaged("member without a value");
    const std::string_view value(p, static_cast<std::size_t>(value_end - p));
    if (value.size() <= kLargestMember)
      end_.members.emplace_back(name, value);
    else
      ++end_.large_members;
    at = value_end;
  }
}

TraceDocument::Progress TraceDocument::take_events(const char*& at, const char* end, std::vector<TraceEvent>& events) {
  for (;;) {
    while (at < end && (*at == ',' || *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    if (at >= end) return Progress::wants_more;
    if (*at == ']') {
      ++at;
      state_ = in_object_ ? State::members : State::done;
      end_.complete = !in_object_;
      return Progress::ended;
    }
    TraceEvent event;
    Skim skim = Skim::malformed;
    if (*at == '{')
      skim = skim_object(at, end, [&](std::string_view key, std::string_view value) { set_member(event, key, value); });
    if (skim == Skim::cut) return Progress::wants_more;
    if (skim == Skim::whole) {
      events.push_back(event);
      ++end_.events;
      continue;
    }
    const char* behind = skip_value(at, end);
    if (behind == nullptr) return Progress::wants_more;
    if (behind == at) return damaged("invalid JSON");
    at = behind;
    ++end_.malformed;
  }
}

}  // namespace aaco::importers

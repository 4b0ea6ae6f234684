#include "importers/stream/trace_events.h"

#include <algorithm>

#include "importers/stream/text_window.h"
#include "importers/stream/trace_document.h"
#include "importers/stream/work_ahead.h"

namespace aaco::importers {
namespace {

// A piece of text and the events found in it.
struct EventBatch : TextWindow {
  std::vector<TraceEvent> events;
};

// Reads and takes apart; batch after batch.
class EventSplitter {
 public:
  EventSplitter(trace::ByteSource& source, const ReadLimits& limits) : source_(source), limits_(limits) {}

  // Fills the batch with the next window; false at the end. The rest behind its last whole value goes to the next one.
  core::Result<bool> fill(EventBatch& batch) {
    if (ended_) return false;
    batch.begin_with(rest_, limits_.window_bytes);
    batch.events.clear();
    for (;;) {
      AACO_ASSIGN(const bool more, batch.read(source_, document_.end().bytes));
      const char* at = batch.text.get();
      const char* end = at + batch.size;
      batch.events.clear();
      auto progress = document_.take(at, end, batch.events);
      if (!progress) return core::fail(progress.error().code, source_.name() + ": " + progress.error().message);
      rest_.assign(at, end);
      if (*progress == TraceDocument::Progress::ended || !more) {
        finish(*progress);
        if (document_.end().complete) AACO_TRY(drain(more));
        return true;
      }
      if (at > batch.text.get()) return true;  // something was done with
      if (batch.size >= limits_.value_bytes) {
        document_.end().trouble = "a single value is larger than " + std::to_string(limits_.value_bytes) + " bytes";
        ended_ = true;
        return true;
      }
      batch.reserve(2 * batch.size);
    }
  }
  [[nodiscard]] DocumentEnd& end() { return document_.end(); }

 private:
  // Reads what follows the document: only at its own end does a compressed source know whether it is whole.
  core::Status drain(bool more) {
    std::string text = std::move(rest_);
    for (;;) {
      document_.end().trailing += std::count_if(text.begin(), text.end(), [](unsigned char c) { return c > ' '; });
      if (!more) return {};
      text.resize(std::size_t{64} << 10);
      AACO_ASSIGN(const std::size_t count, source_.read(text));
      text.resize(count);
      document_.end().bytes += static_cast<std::int64_t>(count);
      more = count > 0;
    }
  }
  void finish(TraceDocument::Progress progress) {
    ended_ = true;
    if (progress == TraceDocument::Progress::wants_more)
      document_.end().trouble = "the text ends " + std::string(document_.place());
  }

  trace::ByteSource& source_;
  ReadLimits limits_;
  TraceDocument document_;
  std::string rest_;
  bool ended_ = false;
};

}  // namespace

core::Result<DocumentEnd> read_trace_events(trace::ByteSource& source,
                                            const std::function<core::Status(std::span<const TraceEvent>)>& visit,
                                            const ReadLimits& limits) {
  EventSplitter splitter(source, limits);
  AACO_TRY(work_ahead<EventBatch>(
      [&](EventBatch& batch) { return splitter.fill(batch); },
      [&](const EventBatch& batch) { return batch.events.empty() ? core::Status() : visit(batch.events); }));
  if (splitter.end().bytes == 0) return core::fail(core::ErrorCode::invalid_input, source.name() + ": the file is empty");
  return std::move(splitter.end());
}

}  // namespace aaco::importers

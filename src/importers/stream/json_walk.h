#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "importers/stream/json_skim.h"
#include "importers/stream/trace_events.h"
#include "trace/source.h"

namespace aaco::importers {

// Who walks a JSON document says which of its objects and arrays are entered, and gets everything else whole. Places are named by
// tags of the visitor's own: each container that is entered has one. Texts are as they stand in the document (a key without its
// quotes, a string value with them), live until the call returns and have kSkimPadding readable bytes behind them.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // Of an object or array below the container `parent` (0: the document itself), under `key` (empty in an array): its tag where
  // it is to be entered; 0: it is handed out whole. Asked ahead of the other calls, on a thread of its own: the answer depends on
  // nothing else.
  [[nodiscard]] virtual int tag_of(int parent, std::string_view key, bool is_array) const = 0;
  // The following calls come in the document's order, on the thread that walks.
  virtual void enter(int tag, std::string_view key) = 0;
  virtual void value(int parent, std::string_view key, std::string_view text) = 0;
  // The container is closed.
  virtual void leave(int tag) = 0;
  // Asked after each window.
  virtual core::Status status() = 0;
};

struct WalkEnd {
  bool complete = false;      // the document was closed
  std::string trouble;        // why not
  std::int64_t bytes = 0;     // read in all
  std::int64_t trailing = 0;  // bytes behind the end of the document, white space aside
};

// Walks a document in bounded memory; its text is taken apart ahead by a thread of its own. A document that is cut or damaged
// yields all whole values before the place. Fails where reading fails, the text is empty, or the visitor's status does.
core::Result<WalkEnd> walk_json(trace::ByteSource& source, JsonVisitor& visitor, const ReadLimits& limits = {});

}  // namespace aaco::importers

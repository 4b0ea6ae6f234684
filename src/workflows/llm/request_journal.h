#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/handles.h"
#include "core/result.h"
#include "serving/record.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// The requests of a load as they end, in a hidden file of the open session: what a killed run leaves behind. A line is a row of
// llm_requests as JSON, columns without a value left out. A thread of its own writes it, so that the client is not held up; what
// is written survives the death of the process, not that of the machine.
class RequestJournal {
 public:
  static core::Result<std::unique_ptr<RequestJournal>> open(const std::string& session_path);
  RequestJournal(const RequestJournal&) = delete;
  RequestJournal& operator=(const RequestJournal&) = delete;
  ~RequestJournal();

  // The level of the requests that follow; `first_request` is the index of its first one.
  void begin_level(std::string phase, std::string load, std::int64_t first_request);
  // On the client's thread, which never waits for the writer.
  void add(const serving::RequestRecord& record);
  // Once the session has its tables.
  void discard();

 private:
  struct Level {
    std::string phase, load;
    std::int64_t first_request = 0;
  };
  struct Batch {
    Level level;
    std::deque<serving::RequestRecord> records;
  };
  RequestJournal(core::FileDescriptor file, std::string path);
  void hand_over();  // under the lock
  void write_all();
  std::string path_;
  core::FileDescriptor file_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Batch> waiting_;
  std::deque<serving::RequestRecord> held_;  // of the client's thread, while the writer has the lock
  bool end_ = false;
  std::thread thread_;
};

// The rows of a session's journal. A torn last line is left out. Fails with not_found where there is none, and with invalid_input
// on a line that is no row.
core::Result<std::vector<trace::LlmRequestRow>> read_request_journal(const std::string& session_path, trace::NameTable& names);

}  // namespace aaco::workflows

#include "workflows/session/loop_blocks.h"

#include <unistd.h>

namespace aaco::workflows {

LoopBlocks::LoopBlocks()
    : freezer_({}, 0),
      frozen_before_ns_(freezer_.frozen_ns()),
      account_(collectors::BlockAccount::open({}, ::getpid(), ::gettid())) {
  if (frozen_before_ns_) frozen_ns_ = 0;
}

void LoopBlocks::end_block(std::int64_t number, bool instrumented, std::int64_t start_ns, std::int64_t end_ns,
                           std::int64_t calls) {
  Block block;
  account_->end(block.row);
  if (freezer_.used()) {
    const auto now_ns = freezer_.frozen_ns();
    if (!instrumented) {
      ++freezes_;
      if (now_ns && frozen_before_ns_) *frozen_ns_ += *now_ns - *frozen_before_ns_;
    }
    frozen_before_ns_ = now_ns;
  }
  block.row.stops = stops_.count() - stops_before_;
  block.row.block = number;
  block.row.start_ns = start_ns;
  block.row.end_ns = end_ns;
  block.row.call_count = calls;
  block.instrumented = instrumented;
  blocks_.push_back(block);
}

trace::Metrics LoopBlocks::freezes() const {
  trace::Metrics out;
  if (!freezer_.recorded()) return out;
  out.push_back({"process.freezes_count", static_cast<double>(freezes_), "count", {}, {}});
  // Frozen through a group of version 1, whose time is not counted, the other hierarchy counts none.
  if (frozen_ns_ && (freezes_ == 0 || *frozen_ns_ > 0))
    out.push_back({"process.frozen_ns", static_cast<double>(*frozen_ns_), "ns", {}, {}});
  return out;
}

void LoopBlocks::store(trace::Sink& sink) {
  const trace::NameId plain = sink.name("measure"), with = sink.name("measure_telemetry");
  for (Block& block : blocks_) {
    block.row.phase = block.instrumented ? with : plain;
    sink.add(block.row);
  }
}

std::vector<trace::LoopBlockRow> LoopBlocks::rows(trace::NameTable& names) const {
  const trace::NameId plain = names.intern("measure"), with = names.intern("measure_telemetry");
  std::vector<trace::LoopBlockRow> rows;
  for (const Block& block : blocks_) {
    rows.push_back(block.row);
    rows.back().phase = block.instrumented ? with : plain;
  }
  return rows;
}

}  // namespace aaco::workflows

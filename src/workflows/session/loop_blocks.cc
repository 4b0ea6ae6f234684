#include "workflows/session/loop_blocks.h"

#include <unistd.h>

namespace aaco::workflows {

LoopBlocks::LoopBlocks() : account_(collectors::BlockAccount::open({}, ::getpid(), ::gettid())) {}

void LoopBlocks::end_block(std::int64_t number, bool instrumented, std::int64_t start_ns, std::int64_t end_ns,
                           std::int64_t calls) {
  Block block;
  account_->end(block.row);
  block.row.stops = stops_.count() - stops_before_;
  block.row.block = number;
  block.row.start_ns = start_ns;
  block.row.end_ns = end_ns;
  block.row.call_count = calls;
  block.instrumented = instrumented;
  blocks_.push_back(block);
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

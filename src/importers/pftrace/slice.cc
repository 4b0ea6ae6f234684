#include "importers/pftrace/slice.h"

#include "core/numbers.h"

namespace aaco::importers::pftrace {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Message;
using formats::protobuf::Wire;

struct Annotation {
  std::string_view name, text;
  std::optional<std::uint64_t> value;
};

// DebugAnnotation: name_iid 1, uint 3, int 4, string 6, pointer 7, name 10, string_value_iid 17. Nested values are not followed.
Annotation read_annotation(std::string_view text, const Sequence& sequence) {
  Annotation out;
  Message message(text);
  for (Field field; message.next(field);) {
    switch (field.number) {
      case 1: out.name = sequence.interned(Sequence::Kind::annotation, field.value); break;
      case 3:
      case 4:
      case 7:
        if (field.wire == Wire::varint) out.value = field.value;
        break;
      case 6: out.text = field.bytes; break;
      case 10: out.name = field.bytes; break;
      case 17: out.text = sequence.interned(Sequence::Kind::text, field.value); break;
      default: break;
    }
  }
  return out;
}

void apply(const Annotation& annotation, Slice& slice) {
  const auto whole = [&]() -> std::optional<std::int64_t> {
    if (!annotation.value) return core::parse_i64(annotation.text);
    return *annotation.value <= static_cast<std::uint64_t>(INT64_MAX)
               ? std::optional(static_cast<std::int64_t>(*annotation.value))
               : std::nullopt;
  };
  const auto agent = [&] { return annotation.value ? std::to_string(*annotation.value) : std::string(annotation.text); };
  const std::string_view name = annotation.name;
  if (name == "begin_ns") slice.begin_ns = whole();
  if (name == "end_ns") slice.end_ns = whole();
  if (name == "tid") slice.thread = whole();
  if (name == "queue") slice.queue = whole();
  if (name == "corr_id" || name == "correlation") slice.correlation_id = annotation.value;
  if (name == "kernel_id") slice.kernel_id = annotation.value;
  if (name == "group_segment_size") slice.lds_bytes = whole();
  if (name == "private_segment_size") slice.scratch_bytes = whole();
  if (name == "copy_bytes" || name == "bytes") slice.copy_bytes = whole();
  if (name == "device") slice.device = whole();
  if (name == "stream") slice.stream = whole();
  if (name.size() == 6 && name.starts_with("grid_") && name[5] >= 'x' && name[5] <= 'z') slice.grid.at(name[5] - 'x') = whole();
  if (name.size() == 7 && name.starts_with("block_") && name[6] >= 'x' && name[6] <= 'z') slice.block.at(name[6] - 'x') = whole();
  if (name == "agent") slice.agent = agent();
  if (name == "src_agent") slice.source_agent = agent();
  if (name == "dst_agent") slice.target_agent = agent();
}

}  // namespace

// TrackEvent: category_iids 3, debug_annotations 4, type 9, name_iid 10, track_uuid 11, categories 22, name 23, counter_value 30,
// double_counter_value 44.
std::optional<Slice> read_slice(std::string_view text, const Sequence& sequence) {
  Slice slice;
  slice.track = sequence.default_track();
  Message message(text);
  for (Field field; message.next(field);) {
    const bool varint = field.wire == Wire::varint;
    const bool bytes = field.wire == Wire::bytes;
    if (field.number == 3 && varint) slice.category = sequence.interned(Sequence::Kind::category, field.value);
    if (field.number == 4 && bytes) apply(read_annotation(field.bytes, sequence), slice);
    if (field.number == 9 && varint && field.value <= 4) slice.type = static_cast<EventType>(field.value);
    if (field.number == 10 && varint) slice.name = sequence.interned(Sequence::Kind::event, field.value);
    if (field.number == 11 && varint) slice.track = field.value;
    if (field.number == 22 && bytes) slice.category = field.bytes;
    if (field.number == 23 && bytes) slice.name = field.bytes;
    if (field.number == 30 && varint) slice.counter = static_cast<double>(field.as_i64());
    if (field.number == 44 && field.wire == Wire::fixed64) slice.counter = field.as_double();
  }
  if (message.damaged()) return std::nullopt;
  return slice;
}

}  // namespace aaco::importers::pftrace

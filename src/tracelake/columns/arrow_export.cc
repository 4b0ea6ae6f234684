#include <array>
#include <cerrno>
#include <deque>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tracelake/arrow.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

const char* format_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::int8: return "c";
    case ColumnKind::uint8: return "C";
    case ColumnKind::int16: return "s";
    case ColumnKind::uint16: return "S";
    case ColumnKind::int32: return "i";
    case ColumnKind::uint32: return "I";
    case ColumnKind::int64: return "l";
    case ColumnKind::uint64: return "L";
    case ColumnKind::float32: return "f";
    case ColumnKind::float64: return "g";
    case ColumnKind::boolean: return "b";
    case ColumnKind::date: return "tdD";
    case ColumnKind::timestamp: return "tsu:";
    case ColumnKind::text: return "U";
  }
  return "n";
}

// The children of a struct are released with it, except those that were moved out of it: these may outlive it, so each keeps
// the owner by itself.
template <class Node>
void release_children(Node& node) {
  for (std::int64_t i = 0; i < node.n_children; ++i)
    if (node.children[i]->release != nullptr) node.children[i]->release(node.children[i]);
}

struct SchemaOwner {
  std::deque<std::string> names;
  std::vector<ArrowSchema> fields;
  std::vector<ArrowSchema*> children;
};

void release_schema(ArrowSchema* schema) {
  release_children(*schema);
  delete static_cast<std::shared_ptr<SchemaOwner>*>(schema->private_data);
  schema->release = nullptr;
}

struct ArrayOwner {
  std::shared_ptr<const Columns> columns;
  std::deque<std::vector<std::uint8_t>> bits;  // of boolean columns
  std::vector<std::array<const void*, 3>> buffers;
  std::vector<ArrowArray> fields;
  std::vector<ArrowArray*> children;
  std::array<const void*, 1> own_buffers{nullptr};
};

void release_array(ArrowArray* array) {
  release_children(*array);
  delete static_cast<std::shared_ptr<ArrayOwner>*>(array->private_data);
  array->release = nullptr;
}

std::vector<std::uint8_t> packed(const Column& column) {
  std::vector<std::uint8_t> bits((column.rows + 7) / 8, 0);
  for (std::size_t row = 0; row < column.rows; ++row)
    if (column.values[row] != std::byte{0}) bits[row / 8] |= static_cast<std::uint8_t>(1U << (row % 8));
  return bits;
}

void export_field(const Column& column, const std::shared_ptr<ArrayOwner>& owner, std::size_t index) {
  auto& buffers = owner->buffers[index];
  ArrowArray& array = owner->fields[index];
  buffers[0] = column.validity.empty() ? nullptr : column.validity.data();
  buffers[1] = column.values.data();
  array.n_buffers = 2;
  if (column.kind == ColumnKind::boolean) buffers[1] = owner->bits.emplace_back(packed(column)).data();
  if (column.kind == ColumnKind::text) {
    buffers[1] = column.offsets.data();
    buffers[2] = column.values.data();
    array.n_buffers = 3;
  }
  array.length = static_cast<std::int64_t>(column.rows);
  array.null_count = static_cast<std::int64_t>(column.nulls);
  array.buffers = buffers.data();
  array.release = &release_array;
  array.private_data = new std::shared_ptr<ArrayOwner>(owner);
}

void export_rows(std::shared_ptr<const Columns> columns, ArrowArray* out) {
  const std::size_t count = columns->columns.size();
  auto owner = std::make_shared<ArrayOwner>();
  owner->columns = std::move(columns);
  owner->buffers.resize(count);
  owner->fields.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    export_field(owner->columns->columns[i], owner, i);
    owner->children.push_back(&owner->fields[i]);
  }
  *out = {};
  out->length = static_cast<std::int64_t>(owner->columns->rows);
  out->n_buffers = 1;
  out->n_children = static_cast<std::int64_t>(count);
  out->buffers = owner->own_buffers.data();
  out->children = owner->children.data();
  out->release = &release_array;
  out->private_data = new std::shared_ptr<ArrayOwner>(owner);
}

struct StreamOwner {
  std::shared_ptr<const Columns> columns;
  bool given = false;
};

StreamOwner& owner_of(ArrowArrayStream* stream) { return *static_cast<StreamOwner*>(stream->private_data); }

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    export_schema(*owner_of(stream).columns, out);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  StreamOwner& owner = owner_of(stream);
  *out = {};  // released: the end
  if (std::exchange(owner.given, true)) return 0;
  try {
    export_rows(owner.columns, out);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

const char* stream_error(ArrowArrayStream*) { return "out of memory"; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamOwner*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_schema(const Columns& columns, ArrowSchema* out) {
  auto owner = std::make_shared<SchemaOwner>();
  owner->fields.resize(columns.columns.size());
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const Column& column = columns.columns[i];
    ArrowSchema& field = owner->fields[i];
    field = {};
    field.format = format_of(column.kind);
    field.name = owner->names.emplace_back(column.name).c_str();
    field.flags = kNullable;
    field.release = &release_schema;
    field.private_data = new std::shared_ptr<SchemaOwner>(owner);
    owner->children.push_back(&field);
  }
  *out = {};
  out->format = "+s";
  out->name = "";
  out->n_children = static_cast<std::int64_t>(owner->children.size());
  out->children = owner->children.data();
  out->release = &release_schema;
  out->private_data = new std::shared_ptr<SchemaOwner>(owner);
}

void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out) {
  out->get_schema = &stream_schema;
  out->get_next = &stream_next;
  out->get_last_error = &stream_error;
  out->release = &release_stream;
  out->private_data = new StreamOwner{std::move(columns), false};
}

}  // namespace aaco::tracelake

#include "tracelake/store/parquet_footer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tracelake/store/thrift_reader.h"

namespace aaco::tracelake::store {
namespace {

using Field = ThriftReader::Field;
using Type = ThriftReader::Type;

static_assert(std::endian::native == std::endian::little, "statistics are little-endian");

// A column of a row group (ColumnMetaData).
struct Chunk {
  std::string_view column;
  bool integers = false;  // of 64 bits
  std::int64_t first_page = INT64_MAX;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> least, most;
};

std::optional<std::int64_t> integer_of(std::string_view bytes) {
  std::int64_t value = 0;
  if (bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void read_statistics(ThriftReader& in, Chunk& chunk) {
  constexpr int kMaxValue = 5, kMinValue = 6;
  for (Field field; in.next(field);) {
    if (field.type == Type::binary && field.id == kMaxValue)
      chunk.most = integer_of(in.binary());
    else if (field.type == Type::binary && field.id == kMinValue)
      chunk.least = integer_of(in.binary());
    else
      in.skip(field.type);
  }
}

void read_metadata(ThriftReader& in, Chunk& chunk) {
  constexpr int kType = 1, kPath = 3, kCompressedSize = 7, kDataPage = 9, kIndexPage = 10, kDictionaryPage = 11, kStatistics = 12;
  constexpr int kInt64 = 2;
  for (Field field; in.next(field);) {
    if (field.id == kType && field.type == Type::i32) {
      chunk.integers = in.integer() == kInt64;
    } else if (field.id == kPath && field.type == Type::list) {
      const auto path = in.list();
      if (path.size == 1 && path.type == Type::binary)
        chunk.column = in.binary();
      else
        for (std::uint64_t i = 0; i < path.size && !in.damaged(); ++i) in.skip(path.type);
    } else if (field.id == kCompressedSize && field.type == Type::i64) {
      chunk.bytes = in.integer();
    } else if ((field.id == kDataPage || field.id == kIndexPage || field.id == kDictionaryPage) && field.type == Type::i64) {
      chunk.first_page = std::min(chunk.first_page, in.integer());
    } else if (field.id == kStatistics && field.type == Type::structure) {
      read_statistics(in, chunk);
    } else {
      in.skip(field.type);
    }
  }
}

Chunk read_chunk(ThriftReader& in) {
  constexpr int kMetadata = 3;
  Chunk chunk;
  for (Field field; in.next(field);) {
    if (field.id == kMetadata && field.type == Type::structure)
      read_metadata(in, chunk);
    else
      in.skip(field.type);
  }
  return chunk;
}

bool excluded(const Chunk& chunk, std::span<const Between> between) {
  if (!chunk.integers || !chunk.least || !chunk.most) return false;
  return std::any_of(between.begin(), between.end(), [&](const Between& one) {
    return one.column == chunk.column && (*chunk.most < one.low || one.high < *chunk.least);
  });
}

struct Group {
  std::string_view text;
  std::int64_t rows = 0;
  FooterPart::Bytes bytes;
  bool kept = true;
};

// The bytes of a row group's columns; false where no file can have them.
bool add_chunk(const Chunk& chunk, Group& group) {
  std::int64_t end = 0;
  if (chunk.first_page < 0 || chunk.bytes < 0 || __builtin_add_overflow(chunk.first_page, chunk.bytes, &end)) return false;
  if (group.bytes.size == 0) group.bytes.offset = chunk.first_page;
  const std::int64_t last = std::max(group.bytes.offset + group.bytes.size, end);
  group.bytes.offset = std::min(group.bytes.offset, chunk.first_page);
  group.bytes.size = last - group.bytes.offset;
  return true;
}

std::optional<Group> read_group(ThriftReader& in, std::string_view footer, std::span<const Between> between) {
  constexpr int kColumns = 1, kRows = 3;
  const std::size_t first = in.at();
  Group group;
  for (Field field; in.next(field);) {
    if (field.id == kColumns && field.type == Type::list) {
      const auto chunks = in.list();
      for (std::uint64_t i = 0; i < chunks.size && !in.damaged(); ++i) {
        if (chunks.type != Type::structure) return std::nullopt;
        const Chunk chunk = read_chunk(in);
        group.kept = group.kept && !excluded(chunk, between);
        if (!add_chunk(chunk, group)) return std::nullopt;
      }
    } else if (field.id == kRows && field.type == Type::i64) {
      group.rows = in.integer();
    } else {
      in.skip(field.type);
    }
  }
  group.text = footer.substr(first, in.at() - first);
  return group;
}

void put_varint(std::string& out, std::uint64_t value) {
  constexpr std::uint64_t kLow = 0x7F;
  for (; value > kLow; value >>= 7U) out += static_cast<char>((value & kLow) | 0x80U);
  out += static_cast<char>(value);
}

void put_list(std::string& out, std::size_t size, Type type) {
  constexpr std::size_t kLong = 15;
  out += static_cast<char>((std::min(size, kLong) << 4U) | static_cast<std::size_t>(type));
  if (size >= kLong) put_varint(out, size);
}

// A stretch of the footer that is written anew.
struct Place {
  std::size_t first = 0, end = 0;
};

// SchemaElement: its name, and how many of the elements behind it are its parts.
struct Element {
  std::string_view name;
  std::int64_t parts = 0;
};

Element read_element(ThriftReader& in) {
  constexpr int kName = 4, kParts = 5;
  Element element;
  for (Field field; in.next(field);) {
    if (field.id == kName && field.type == Type::binary)
      element.name = in.binary();
    else if (field.id == kParts && field.type == Type::i32)
      element.parts = in.integer();
    else
      in.skip(field.type);
  }
  return element;
}

}  // namespace

std::vector<std::string> columns_of_footer(std::string_view footer) {
  constexpr int kSchema = 2;
  std::vector<std::string> columns;
  ThriftReader in(footer);
  for (Field field; in.next(field);) {
    if (field.id != kSchema || field.type != Type::list) {
      in.skip(field.type);
      continue;
    }
    const auto list = in.list();
    if (list.size == 0 || list.type != Type::structure) return {};
    const Element root = read_element(in);
    for (std::uint64_t i = 1; i < list.size && !in.damaged(); ++i) {
      const Element column = read_element(in);
      if (column.parts != 0) return {};
      columns.emplace_back(column.name);
    }
    if (in.damaged() || root.parts != std::ssize(columns)) return {};
    return columns;
  }
  return {};
}

std::optional<FooterPart> part_of_footer(std::string_view footer, std::span<const Between> between) {
  constexpr int kRows = 3, kGroups = 4;
  FooterPart part;
  std::string groups;
  std::int64_t rows = 0;
  Place rows_at, groups_at;
  ThriftReader in(footer);
  for (Field field; in.next(field);) {
    const std::size_t first = in.at();
    if (field.id == kGroups && field.type == Type::list) {
      const auto list = in.list();
      if (groups_at.end != 0 || (list.size > 0 && list.type != Type::structure)) return std::nullopt;
      for (; part.group_count < list.size && !in.damaged(); ++part.group_count) {
        const auto group = read_group(in, footer, between);
        if (!group) return std::nullopt;
        if (!group->kept) continue;
        if (group->rows < 0 || __builtin_add_overflow(rows, group->rows, &rows)) return std::nullopt;
        groups += group->text;
        part.groups.push_back(group->bytes);
      }
      groups_at = {first, in.at()};
    } else {
      in.skip(field.type);
      if (field.id != kRows) continue;
      if (rows_at.end != 0 || field.type != Type::i64) return std::nullopt;
      rows_at = {first, in.at()};
    }
  }
  if (in.damaged() || rows_at.end == 0 || groups_at.first < rows_at.end) return std::nullopt;
  part.footer = footer.substr(0, rows_at.first);
  put_varint(part.footer, static_cast<std::uint64_t>(rows) << 1U);  // zigzag of a number that is not negative
  part.footer += footer.substr(rows_at.end, groups_at.first - rows_at.end);
  put_list(part.footer, part.groups.size(), Type::structure);
  part.footer += groups;
  part.footer += footer.substr(groups_at.end);
  return part;
}

}  // namespace aaco::tracelake::store

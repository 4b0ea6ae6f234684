#include <fmt/format.h>

#include <map>

#include "core/strings.h"
#include "laboratory/gpu/kernels.h"

// PTX by the published ISA, version 7.0. Sixteen-bit types are widened to float32, computed, and rounded back.
namespace aaco::laboratory::gpu {
namespace {

using core::ErrorCode;
using core::replace_all;

bool is_brain(const std::string& dtype) { return dtype == "bfloat16"; }

std::string header(const std::string& dtype) {
  return fmt::format(".version 7.0\n.target {}\n.address_size 64\n", is_brain(dtype) ? "sm_80" : "sm_70");
}

// %a and %b -> %r, float32; %t0 to %t5 and %q are free.
const std::map<std::string, std::string>& operators() {
  static const std::string kExp = "mul.f32 %t0, %a, 0f3FB8AA3B;\nex2.approx.f32 %r, %t0;\n";
  static const std::string kSigmoid =
      "mul.f32 %t0, %a, 0fBFB8AA3B;\nex2.approx.f32 %t0, %t0;\nadd.f32 %t0, %t0, 0f3F800000;\nrcp.approx.f32 %r, %t0;\n";
  // 1 - 2 / (1 + e^2x)
  static const std::string kTanh =
      "mul.f32 %t0, %a, 0f4038AA3B;\nex2.approx.f32 %t0, %t0;\nadd.f32 %t0, %t0, 0f3F800000;\nrcp.approx.f32 %t0, %t0;\n"
      "fma.rn.f32 %r, %t0, 0fC0000000, 0f3F800000;\n";
  // Abramowitz and Stegun 7.1.26, of %t5 into %t4.
  static const std::string kErf =
      "abs.f32 %t0, %t5;\nfma.rn.f32 %t1, %t0, 0f3EA7BA05, 0f3F800000;\nrcp.approx.f32 %t1, %t1;\n"
      "fma.rn.f32 %t2, %t1, 0f3F87DC22, 0fBFBA00E3;\nfma.rn.f32 %t2, %t2, %t1, 0f3FB5F0E3;\n"
      "fma.rn.f32 %t2, %t2, %t1, 0fBE91A98E;\nfma.rn.f32 %t2, %t2, %t1, 0f3E827906;\nmul.f32 %t2, %t2, %t1;\n"
      "mul.f32 %t3, %t0, %t0;\nmul.f32 %t3, %t3, 0fBFB8AA3B;\nex2.approx.f32 %t3, %t3;\nmul.f32 %t2, %t2, %t3;\n"
      "sub.f32 %t2, 0f3F800000, %t2;\ncopysign.f32 %t4, %t5, %t2;\n";
  static const std::map<std::string, std::string> kOperators{
      {"add", "add.f32 %r, %a, %b;\n"},
      {"sub", "sub.f32 %r, %a, %b;\n"},
      {"mul", "mul.f32 %r, %a, %b;\n"},
      {"div", "div.full.f32 %r, %a, %b;\n"},
      {"relu", "max.f32 %r, %a, 0f00000000;\n"},
      {"sqrt", "sqrt.approx.f32 %r, %a;\n"},
      {"exp", kExp},
      {"sigmoid", kSigmoid},
      {"tanh", kTanh},
      {"erf", "mov.f32 %t5, %a;\n" + kErf + "mov.f32 %r, %t4;\n"},
      {"gelu", "mul.f32 %t5, %a, 0f3F3504F3;\n" + kErf +
                   "add.f32 %t4, %t4, 0f3F800000;\nmul.f32 %t0, %a, 0f3F000000;\nmul.f32 %r, %t0, %t4;\n"}};
  return kOperators;
}

constexpr std::string_view kRegisters =
    ".reg .pred %p, %q;\n.reg .b16 %h<4>;\n.reg .b32 %i<24>, %w<12>;\n.reg .b64 %d<12>;\n"
    ".reg .f32 %a, %b, %r, %t<8>, %v<4>;\n";

// The number of the thread in %i0; leaves where it is `limit`, a register, or beyond.
std::string thread_below(std::string_view limit) {
  return fmt::format(
      "mov.u32 %i1, %ctaid.x;\nmov.u32 %i2, %ntid.x;\nmov.u32 %i3, %tid.x;\nmad.lo.u32 %i0, %i1, %i2, %i3;\n"
      "setp.ge.u32 %p, %i0, {};\n@%p bra DONE;\n",
      limit);
}

std::string pointer(std::string_view target, std::string_view parameter) {
  return fmt::format("ld.param.u64 {0}, [{1}];\ncvta.to.global.u64 {0}, {0};\n", target, parameter);
}

std::string entry(std::string_view parameters, const std::string& body) {
  return fmt::format(".visible .entry work({})\n{{\n{}{}DONE:\nret;\n}}\n", parameters, kRegisters, body);
}

// One element of `dtype` at [%address] into a float32, and back.
std::string load_one(const std::string& dtype, std::string_view into, std::string_view address) {
  if (dtype == "float32") return fmt::format("ld.global.f32 {}, [{}];\n", into, address);
  if (is_brain(dtype)) return fmt::format("ld.global.u16 %w8, [{}];\nshl.b32 %w8, %w8, 16;\nmov.b32 {}, %w8;\n", address, into);
  return fmt::format("ld.global.b16 %h0, [{}];\ncvt.f32.f16 {}, %h0;\n", address, into);
}
std::string store_one(const std::string& dtype, std::string_view from, std::string_view address) {
  if (dtype == "float32") return fmt::format("st.global.f32 [{}], {};\n", address, from);
  return fmt::format("cvt.rn.{}.f32 %h0, {};\nst.global.b16 [{}], %h0;\n", is_brain(dtype) ? "bf16" : "f16", from, address);
}

int bytes_of(const std::string& dtype) { return dtype == "float32" ? 4 : 2; }

// Word `x` of x and `y` of y -> word `x`.
std::string work_on_word(const std::string& dtype, const std::string& operation, int number, bool binary) {
  const std::string x = fmt::format("%w{}", number), y = fmt::format("%w{}", number + 4);
  if (dtype == "float32")
    return fmt::format("mov.b32 %a, {};\n{}{}mov.b32 {}, %r;\n", x, binary ? fmt::format("mov.b32 %b, {};\n", y) : "", operation,
                       x);
  std::string text;
  const auto half = [&](std::string_view into, const std::string& word, bool high) {
    if (!is_brain(dtype)) return fmt::format("mov.b32 {{%h0, %h1}}, {};\ncvt.f32.f16 {}, %h{};\n", word, into, high ? 1 : 0);
    return fmt::format("{}\nmov.b32 {}, %w8;\n",
                       high ? fmt::format("and.b32 %w8, {}, 0xFFFF0000;", word) : fmt::format("shl.b32 %w8, {}, 16;", word),
                       into);
  };
  for (const bool high : {false, true}) {
    text += half("%a", x, high);
    if (binary) text += half("%b", y, high);
    text += operation + fmt::format("cvt.rn.{}.f32 %h{}, %r;\n", is_brain(dtype) ? "bf16" : "f16", high ? 3 : 2);
  }
  return text + fmt::format("mov.b32 {}, {{%h2, %h3}};\n", x);
}

std::string elementwise(const KernelSource& source) {
  const bool binary = is_binary(source.op);
  std::string body = "ld.param.u32 %i4, [n];\n" + thread_below("%i4") + "mul.wide.u32 %d0, %i0, 16;\n" + pointer("%d1", "x") +
                     "add.u64 %d1, %d1, %d0;\nld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%d1];\n";
  if (binary) body += pointer("%d2", "y") + "add.u64 %d2, %d2, %d0;\nld.global.v4.b32 {%w4, %w5, %w6, %w7}, [%d2];\n";
  for (int word = 0; word < 4; ++word) body += work_on_word(source.dtype, operators().at(source.op), word, binary);
  body += pointer("%d3", "out") + "add.u64 %d3, %d3, %d0;\nst.global.v4.b32 [%d3], {%w0, %w1, %w2, %w3};\n";
  return entry(".param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n", body);
}

std::string fill() {
  const std::string body =
      "ld.param.u32 %i4, [n];\n" + thread_below("%i4") +
      // A multiplicative hash of the number.
      "mul.lo.u32 %i5, %i0, 0x9E3779B1;\nshr.u32 %i6, %i5, 15;\nxor.b32 %i5, %i5, %i6;\nmul.lo.u32 %i5, %i5, 0x85EBCA77;\n"
      "shr.u32 %i6, %i5, 13;\nxor.b32 %i5, %i5, %i6;\nand.b32 %i7, %i0, 1;\nsetp.ne.u32 %q, %i7, 0;\n"
      "ld.param.u32 %i8, [and0];\nld.param.u32 %i9, [or0];\nld.param.u32 %i10, [and1];\nld.param.u32 %i11, [or1];\n"
      "@%q mov.u32 %i8, %i10;\n@%q mov.u32 %i9, %i11;\nand.b32 %i5, %i5, %i8;\nor.b32 %i5, %i5, %i9;\n" +
      pointer("%d1", "out") + "mul.wide.u32 %d0, %i0, 4;\nadd.u64 %d1, %d1, %d0;\nst.global.u32 [%d1], %i5;\n";
  return entry(".param .u64 out, .param .u32 n, .param .u32 and0, .param .u32 or0, .param .u32 and1, .param .u32 or1", body);
}

// Of all threads of the block: `op` ("add", "max") of `value`, the result in all of them.
std::string of_block(std::string_view op, std::string_view value) {
  std::string text;
  for (const int apart : {16, 8, 4, 2, 1})
    text += fmt::format(
        "mov.b32 %w0, {0};\nshfl.sync.bfly.b32 %w1, %w0, {1}, 31, 0xFFFFFFFF;\nmov.b32 %t0, %w1;\n{2}.f32 {0}, {0}, %t0;\n",
        value, apart, op);
  text += fmt::format("bar.sync 0;\n@%q st.shared.f32 [%i10], {0};\nbar.sync 0;\nld.shared.f32 {0}, [parts];\n", value);
  for (unsigned warp = 1; warp < kThreads / 32; ++warp)
    text += fmt::format("ld.shared.f32 %t0, [parts+{1}];\n{2}.f32 {0}, {0}, %t0;\n", value, 4 * warp, op);
  return text;
}

// `work` once for each element of the thread's share of the row, its address in %d4 and its value in %a.
std::string each(const std::string& dtype, const std::string& label, const std::string& work) {
  return fmt::format(
      "mov.u32 %i0, %tid.x;\n{0}:\nsetp.ge.u32 %p, %i0, %i4;\n@%p bra {0}_END;\nmul.wide.u32 %d0, %i0, {1};\nadd.u64 %d4, %d1, "
      "%d0;\n{2}{3}"
      "add.u32 %i0, %i0, {4};\nbra {0};\n{0}_END:\n",
      label, bytes_of(dtype), load_one(dtype, "%a", "%d4"), work, kThreads);
}

std::string row_result(const KernelSource& source) {
  const std::string store = "add.u64 %d5, %d3, %d0;\n" + store_one(source.dtype, "%r", "%d5");
  const std::string exponential = "sub.f32 %t1, %a, %v0;\nmul.f32 %t1, %t1, 0f3FB8AA3B;\nex2.approx.f32 %r, %t1;\n";
  if (source.op == "softmax")
    return "mov.f32 %v0, 0fFF800000;\n" + each(source.dtype, "HIGHEST", "max.f32 %v0, %v0, %a;\n") + of_block("max", "%v0") +
           "mov.f32 %v1, 0f00000000;\n" + each(source.dtype, "SUM", exponential + "add.f32 %v1, %v1, %r;\n") +
           of_block("add", "%v1") + "rcp.approx.f32 %v1, %v1;\n" +
           each(source.dtype, "WRITE", exponential + "mul.f32 %r, %r, %v1;\n" + store);
  if (source.op == "ln")
    return "mov.f32 %v0, 0f00000000;\nmov.f32 %v1, 0f00000000;\n" +
           each(source.dtype, "SUM", "add.f32 %v0, %v0, %a;\nfma.rn.f32 %v1, %a, %a, %v1;\n") + of_block("add", "%v0") +
           of_block("add", "%v1") +
           "cvt.rn.f32.u32 %t2, %i4;\nrcp.approx.f32 %t2, %t2;\nmul.f32 %v0, %v0, %t2;\nmul.f32 %v1, %v1, %t2;\n"
           "mul.f32 %t3, %v0, %v0;\nsub.f32 %v1, %v1, %t3;\nadd.f32 %v1, %v1, 0f3727C5AC;\nrsqrt.approx.f32 %v1, %v1;\n" +
           each(source.dtype, "WRITE", "sub.f32 %r, %a, %v0;\nmul.f32 %r, %r, %v1;\n" + store);
  const bool highest = source.op == "reduce_max";
  const std::string op = highest ? "max" : "add";
  std::string text = fmt::format("mov.f32 %v0, {};\n", highest ? "0fFF800000" : "0f00000000") +
                     each(source.dtype, "ALL", op + ".f32 %v0, %v0, %a;\n") + of_block(op, "%v0");
  if (source.op == "reduce_mean") text += "cvt.rn.f32.u32 %t2, %i4;\nrcp.approx.f32 %t2, %t2;\nmul.f32 %v0, %v0, %t2;\n";
  return text + "mov.u32 %i0, %tid.x;\nsetp.ne.u32 %p, %i0, 0;\n@%p bra DONE;\n" + pointer("%d5", "out") +
         fmt::format("mov.u32 %i5, %ctaid.x;\nmul.wide.u32 %d0, %i5, {};\nadd.u64 %d5, %d5, %d0;\n", bytes_of(source.dtype)) +
         store_one(source.dtype, "%v0", "%d5");
}

std::string row(const KernelSource& source) {
  const std::string body =
      fmt::format(".shared .align 4 .b8 parts[{}];\n", 4 * kThreads / 32) +
      // %d1 and %d3: the row in x and in the result; %q and %i10: who writes a warp's part, and where.
      "ld.param.u32 %i4, [cols];\nmov.u32 %i5, %ctaid.x;\nmul.wide.u32 %d0, %i5, %i4;\n" +
      fmt::format("mul.lo.u64 %d0, %d0, {};\n", bytes_of(source.dtype)) + pointer("%d1", "x") + "add.u64 %d1, %d1, %d0;\n" +
      pointer("%d3", "out") +
      "add.u64 %d3, %d3, %d0;\nmov.u32 %i6, %tid.x;\nand.b32 %i7, %i6, 31;\nsetp.eq.u32 %q, %i7, 0;\nshr.u32 %i8, %i6, 5;\n"
      "shl.b32 %i8, %i8, 2;\nmov.u32 %i9, parts;\nadd.u32 %i10, %i9, %i8;\n" +
      row_result(source);
  return entry(".param .u64 x, .param .u64 out, .param .u32 cols", body);
}

std::string transpose(const KernelSource& source) {
  const int bytes = bytes_of(source.dtype);
  const std::string unit = fmt::format("b{}", 8 * bytes), value = bytes == 4 ? "%w0" : "%h0";
  std::string body =
      fmt::format(".shared .align 4 .b8 tile[{}];\n", bytes * 32 * 33) +
      "ld.param.u32 %i4, [rows];\nld.param.u32 %i5, [cols];\nmov.u32 %i6, %tid.x;\nmov.u32 %i7, %tid.y;\n"
      "mov.u32 %i8, %ctaid.x;\nmov.u32 %i9, %ctaid.y;\nshl.b32 %i10, %i8, 5;\nshl.b32 %i11, %i9, 5;\nmov.u32 %i12, tile;\n" +
      pointer("%d1", "x") + pointer("%d3", "out");
  // In: row %i11 + y, column %i10 + x. Out: row %i10 + y, column %i11 + x.
  const auto part = [&](unsigned at, bool in) {
    const std::string skip = fmt::format("{}{}", in ? "IN" : "OUT", at);
    return fmt::format(
               "add.u32 %i13, %i7, {0};\nadd.u32 %i14, {1}, %i13;\nadd.u32 %i15, {2}, %i6;\n"
               "setp.ge.u32 %p, %i14, {3};\nsetp.ge.u32 %q, %i15, {4};\nor.pred %p, %p, %q;\n@%p bra {5};\n"
               "mul.wide.u32 %d0, %i14, {4};\ncvt.u64.u32 %d5, %i15;\nadd.u64 %d0, %d0, %d5;\nmul.lo.u64 %d0, %d0, {6};\nadd.u64 "
               "%d0, %d0, {7};\n"
               "mad.lo.u32 %i16, {8}, 33, {9};\nmad.lo.u32 %i16, %i16, {6}, %i12;\n",
               at, in ? "%i11" : "%i10", in ? "%i10" : "%i11", in ? "%i4" : "%i5", in ? "%i5" : "%i4", skip, bytes,
               in ? "%d1" : "%d3", in ? "%i13" : "%i6", in ? "%i6" : "%i13") +
           (in ? fmt::format("ld.global.{0} {1}, [%d0];\nst.shared.{0} [%i16], {1};\n", unit, value)
               : fmt::format("ld.shared.{0} {1}, [%i16];\nst.global.{0} [%d0], {1};\n", unit, value)) +
           skip + ":\n";
  };
  for (unsigned at = 0; at < kTile; at += kTileRows) body += part(at, true);
  body += "bar.sync 0;\n";
  for (unsigned at = 0; at < kTile; at += kTileRows) body += part(at, false);
  return entry(".param .u64 x, .param .u64 out, .param .u32 rows, .param .u32 cols", body);
}

// The element of the result in %i0, its row in %i5 and its column in %i6, of rows with %i7 columns.
std::string element_of_result(std::string_view columns) {
  return "ld.param.u32 %i4, [n];\n" + thread_below("%i4") + fmt::format("ld.param.u32 %i7, [{}];\n", columns);
}

std::string moved(const std::string& dtype, std::string_view from) {
  const int bytes = bytes_of(dtype);
  return fmt::format(
      "mul.lo.u64 %d5, %d5, {0};\nadd.u64 %d5, {1}, %d5;\nld.global.b{2} {3}, [%d5];\nmul.wide.u32 %d0, %i0, {0};\nadd.u64 %d0, "
      "%d3, %d0;\n"
      "st.global.b{2} [%d0], {3};\n",
      bytes, from, 8 * bytes, bytes == 4 ? "%w0" : "%h0");
}

std::string concat(const KernelSource& source) {
  const std::string body = element_of_result("cols") +
                           "shl.b32 %i8, %i7, 1;\ndiv.u32 %i5, %i0, %i8;\nmul.lo.u32 %i9, %i5, %i8;\nsub.u32 %i6, %i0, %i9;\n" +
                           pointer("%d1", "x") + pointer("%d2", "y") + pointer("%d3", "out") +
                           "setp.ge.u32 %q, %i6, %i7;\n@%q mov.u64 %d1, %d2;\n@%q sub.u32 %i6, %i6, %i7;\n"
                           "mul.wide.u32 %d5, %i5, %i7;\ncvt.u64.u32 %d6, %i6;\nadd.u64 %d5, %d5, %d6;\n" +
                           moved(source.dtype, "%d1");
  return entry(".param .u64 x, .param .u64 y, .param .u64 out, .param .u32 cols, .param .u32 n", body);
}

std::string gather(const KernelSource& source) {
  const std::string body =
      element_of_result("cols") +
      "div.u32 %i5, %i0, %i7;\nmul.lo.u32 %i9, %i5, %i7;\nsub.u32 %i6, %i0, %i9;\nld.param.u32 %i12, [limit];\n" +
      pointer("%d1", "x") + pointer("%d2", "which") + pointer("%d3", "out") +
      "mul.wide.u32 %d5, %i5, 4;\nadd.u64 %d5, %d2, %d5;\nld.global.u32 %i10, [%d5];\nrem.u32 %i10, %i10, %i12;\n"
      "mul.wide.u32 %d5, %i10, %i7;\ncvt.u64.u32 %d6, %i6;\nadd.u64 %d5, %d5, %d6;\n" +
      moved(source.dtype, "%d1");
  return entry(".param .u64 x, .param .u64 which, .param .u64 out, .param .u32 cols, .param .u32 n, .param .u32 limit", body);
}

std::string read() {
  // Four vectors in flight a thread; what is read goes into a sum that is stored where it is a value that it hardly ever is.
  std::string body = "ld.param.u32 %i4, [n];\nld.param.u32 %i5, [passes];\n" + pointer("%d1", "x") + pointer("%d3", "out") +
                     "mov.u32 %i1, %ctaid.x;\nmov.u32 %i2, %ntid.x;\nmov.u32 %i3, %tid.x;\nmad.lo.u32 %i6, %i1, %i2, %i3;\n"
                     "mov.u32 %i7, %nctaid.x;\nmul.lo.u32 %i7, %i7, %i2;\nmov.u32 %i8, 0;\n"
                     "PASS:\nsetp.eq.u32 %p, %i5, 0;\n@%p bra END;\nsub.u32 %i5, %i5, 1;\nmov.u32 %i0, %i6;\n"
                     "NEXT:\n";
  for (int step = 0; step < 4; ++step)
    body += fmt::format(
        "mad.lo.u32 %i9, %i7, {0}, %i0;\nsetp.lt.u32 %p, %i9, %i4;\nmul.wide.u32 %d0, %i9, 16;\nadd.u64 %d{1}, %d1, %d0;\n"
        "mov.u32 %w0, 0;\nmov.u32 %w1, 0;\nmov.u32 %w2, 0;\nmov.u32 %w3, 0;\n"
        "@%p ld.volatile.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%d{1}];\n"
        "xor.b32 %i{2}, %w0, %w1;\nxor.b32 %i{3}, %w2, %w3;\nxor.b32 %i{2}, %i{2}, %i{3};\n",
        step, 4 + step, 10 + 2 * step, 11 + 2 * step);
  for (int step = 0; step < 4; ++step) body += fmt::format("xor.b32 %i8, %i8, %i{};\n", 10 + 2 * step);
  body +=
      "mad.lo.u32 %i0, %i7, 4, %i0;\nsetp.lt.u32 %p, %i0, %i4;\n@%p bra NEXT;\nbra PASS;\n"
      "END:\nsetp.ne.u32 %p, %i8, 0x5A5A1234;\n@%p bra DONE;\nst.global.u32 [%d3], %i8;\n";
  return entry(".param .u64 x, .param .u64 out, .param .u32 n, .param .u32 passes", body);
}

// Eight independent chains, eight steps each a round.
std::string multiply_add(const KernelSource& source) {
  const bool wide = source.dtype == "float64", single = source.dtype == "float32";
  const std::string unit = wide ? "f64" : single ? "f32" : is_brain(source.dtype) ? "bf16x2" : "f16x2";
  const std::string type = wide ? "f64" : single ? "f32" : "b32", scale = is_brain(source.dtype) ? "0x3F7F3F7F" : "0x3BFF3BFF";
  std::string body = fmt::format(".reg .{0} %c<8>, %k, %z;\n", type) + "ld.param.u32 %i5, [rounds];\nmov.u32 %i3, %tid.x;\n";
  if (wide || single) {
    body += fmt::format("cvt.rn.{0}.u32 %c0, %i3;\nmov.{0} %k, {1};\nmov.{0} %z, {2};\n", type,
                        wide ? "0d3FEFFFFDE0000000" : "0f3F7FFFEF", wide ? "0d3F50000000000000" : "0f3A800000");
    for (int chain = 1; chain < 8; ++chain) body += fmt::format("add.{0} %c{1}, %c{2}, %z;\n", type, chain, chain - 1);
  } else {
    body += fmt::format("mov.b32 %k, {};\nmov.b32 %z, {};\n", scale, is_brain(source.dtype) ? "0x3A803A80" : "0x14001400");
    for (int chain = 0; chain < 8; ++chain) body += fmt::format("add.u32 %i6, %i3, {0};\nmov.b32 %c{0}, %i6;\n", chain);
  }
  body += "ROUND:\nsetp.eq.u32 %p, %i5, 0;\n@%p bra END;\nsub.u32 %i5, %i5, 1;\n";
  for (int step = 0; step < kMultiplyAdds / 8; ++step)
    for (int chain = 0; chain < 8; ++chain) body += fmt::format("fma.rn.{0} %c{1}, %c{1}, %k, %z;\n", unit, chain);
  body += "bra ROUND;\nEND:\n";
  if (wide || single) {
    for (int chain = 1; chain < 8; ++chain) body += fmt::format("add.{0} %c0, %c0, %c{1};\n", type, chain);
    body += fmt::format("setp.neu.{0} %p, %c0, {1};\n", type, wide ? "0dBFF0000000000000" : "0fBF800000");
  } else {
    for (int chain = 1; chain < 8; ++chain) body += fmt::format("xor.b32 %c0, %c0, %c{};\n", chain);
    body += "setp.ne.u32 %p, %c0, 0x5A5A1234;\n";
  }
  body += "@%p bra DONE;\n" + pointer("%d1", "out") + fmt::format("st.global.{} [%d1], %c0;\n", type);
  return entry(".param .u64 out, .param .u32 rounds", body);
}

}  // namespace

bool is_binary(const std::string& op) { return op == "add" || op == "sub" || op == "mul" || op == "div"; }
bool is_unary(const std::string& op) { return !is_binary(op) && operators().contains(op); }
bool is_row(const std::string& op) {
  return op == "softmax" || op == "ln" || op == "reduce_sum" || op == "reduce_mean" || op == "reduce_max";
}

int lanes_of(const std::string& dtype) {
  if (dtype == "float32") return 4;
  return dtype == "float16" || dtype == "bfloat16" ? 8 : 0;
}

core::Result<std::string> ptx_of(const KernelSource& source) {
  const bool typed = source.kind != KernelKind::fill && source.kind != KernelKind::read;
  const bool wide = source.kind == KernelKind::multiply_add && source.dtype == "float64";
  if (typed && lanes_of(source.dtype) == 0 && !wide)
    return core::fail(ErrorCode::unsupported, "no kernel of " + source.dtype + " for this operator");
  if ((source.kind == KernelKind::elementwise && !operators().contains(source.op)) ||
      (source.kind == KernelKind::row && !is_row(source.op)))
    return core::fail(ErrorCode::unsupported, "no kernel for operator '" + source.op + "'");
  switch (source.kind) {
    case KernelKind::fill: return header("") + fill();
    case KernelKind::elementwise: return header(source.dtype) + elementwise(source);
    case KernelKind::row: return header(source.dtype) + row(source);
    case KernelKind::transpose: return header(source.dtype) + transpose(source);
    case KernelKind::concat: return header(source.dtype) + concat(source);
    case KernelKind::gather: return header(source.dtype) + gather(source);
    case KernelKind::read: return header("") + read();
    case KernelKind::multiply_add: break;
  }
  return header(source.dtype) + multiply_add(source);
}

}  // namespace aaco::laboratory::gpu

// Stands in for cuBLASLt or hipBLASLt (STANDIN_HIP): a product takes 1 ns for a million multiply-adds, half of that with operands
// of 16 bits and a quarter with 8. It knows what the real ones refuse: operands of 8 bits that are not "TN", sizes that are no
// multiples of 16 then, types that do not fit their arithmetic. STANDIN_NO_FLOAT8 refuses the type 28; STANDIN_PRODUCT fails each
// product with that status.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#ifdef STANDIN_HIP
#define LT(name) hipblasLt##name
enum { kT = 112, kN = 111, kTransA = 0, kTransB = 1, kBatch = 0, kSingle = 2, kTf32 = 6, kDouble = 7, kInt = 9 };
#else
#define LT(name) cublasLt##name
enum { kT = 1, kN = 0, kTransA = 3, kTransB = 4, kBatch = 5, kSingle = 68, kTf32 = 77, kDouble = 70, kInt = 72 };
#endif
enum { kRefused = 15, kInvalid = 7 };

typedef struct {
  int compute, scale, a, b;
} product_t;
typedef struct {
  int type, batch;
  uint64_t rows, columns;
} layout_t;

int standin_work(void* stream, double ns);

static int make(void** out, size_t bytes) {
  *out = calloc(1, bytes);
  return 0;
}
EXPORT int LT(Create)(void** handle) { return make(handle, 8); }
EXPORT int LT(Destroy)(void* handle) {
  free(handle);
  return 0;
}
EXPORT int LT(MatmulDescCreate)(void** out, int compute, int scale) {
  make(out, sizeof(product_t));
  *(product_t*)*out = (product_t){compute, scale, kN, kN};
  return 0;
}
EXPORT int LT(MatmulDescDestroy)(void* product) { return LT(Destroy)(product); }
EXPORT int LT(MatmulDescSetAttribute)(product_t* product, int attribute, const void* value, size_t bytes) {
  if (bytes != 4) return kInvalid;
  if (attribute == kTransA) memcpy(&product->a, value, 4);
  if (attribute == kTransB) memcpy(&product->b, value, 4);
  return 0;
}
EXPORT int LT(MatrixLayoutCreate)(void** out, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  make(out, sizeof(layout_t));
  *(layout_t*)*out = (layout_t){type, 1, rows, columns};
  return leading < (int64_t)rows ? kInvalid : 0;
}
EXPORT int LT(MatrixLayoutDestroy)(void* layout) { return LT(Destroy)(layout); }
EXPORT int LT(MatrixLayoutSetAttribute)(layout_t* layout, int attribute, const void* value, size_t bytes) {
  if (attribute == kBatch && bytes == 4) memcpy(&layout->batch, value, 4);
  return 0;
}
EXPORT int LT(MatmulPreferenceCreate)(void** out) { return make(out, 8); }
EXPORT int LT(MatmulPreferenceDestroy)(void* preference) { return LT(Destroy)(preference); }
EXPORT int LT(MatmulPreferenceSetAttribute)(void* preference, int attribute, const void* value, size_t bytes) {
  (void)preference, (void)value;
  return attribute == 1 && bytes == 8 ? 0 : kInvalid;
}

static int fits(const product_t* p, const layout_t* a, const layout_t* b, const layout_t* d) {
  const int narrow = a->type == 3 || a->type == 28 || a->type == 1000;
  const uint64_t k = p->a == kT ? a->rows : a->columns, n = p->a == kT ? a->columns : a->rows;
  if (a->type != b->type || a->batch != b->batch || a->batch != d->batch) return 0;
  if (p->b != kN || k != b->rows || n != d->rows || b->columns != d->columns) return 0;
  if (a->type == 28 && getenv("STANDIN_NO_FLOAT8")) return 0;
  if (narrow && (p->a != kT || k % 16 || n % 16)) return 0;
  switch (a->type) {
    case 0: return (p->compute == kSingle || p->compute == kTf32) && p->scale == 0 && d->type == 0;
    case 1: return p->compute == kDouble && p->scale == 1 && d->type == 1;
    case 2:
    case 14: return p->compute == kSingle && p->scale == 0 && d->type == a->type;
    case 3: return p->compute == kInt && p->scale == 10 && d->type == 10;
    case 28:
    case 1000: return p->compute == kSingle && p->scale == 0 && d->type == 14;
    default: return 0;
  }
}
EXPORT int LT(MatmulAlgoGetHeuristic)(void* handle, product_t* product, layout_t* a, layout_t* b, layout_t* c, layout_t* d,
                                      void* preference, int asked, void* results, int* found) {
  (void)handle, (void)c, (void)preference;
  *found = 0;
  if (asked < 1 || !fits(product, a, b, d)) return kRefused;
  memset(results, 0x5A, 64);
  *found = 1;
  return 0;
}
EXPORT int LT(Matmul)(void* handle, product_t* product, const void* alpha, uint64_t x, layout_t* a, uint64_t y, layout_t* b,
                      const void* beta, uint64_t c, layout_t* cl, uint64_t out, layout_t* d, const void* algorithm,
                      uint64_t workspace, size_t bytes, void* stream) {
  (void)handle, (void)beta, (void)c, (void)cl;
  const char* fails = getenv("STANDIN_PRODUCT");
  if (fails) return atoi(fails);
  if (!x || !y || !out || !workspace || bytes == 0 || *(const unsigned char*)algorithm != 0x5A || !fits(product, a, b, d))
    return kInvalid;
  // One in the type of the scale.
  static const unsigned char kOne[3][8] = {{0, 0, 0x80, 0x3F}, {0, 0, 0, 0, 0, 0, 0xF0, 0x3F}, {1, 0, 0, 0}};
  const int scale = product->scale == 10 ? 2 : product->scale;
  if (memcmp(alpha, kOne[scale], scale == 1 ? 8 : 4) != 0) return kInvalid;
  const double speed = a->type == 1 ? 0.5 : a->type == 0 ? 1 : a->type == 2 || a->type == 14 ? 2 : 4;
  return standin_work(stream, (double)a->batch * (double)a->rows * (double)a->columns * (double)d->columns / 1e6 / speed);
}

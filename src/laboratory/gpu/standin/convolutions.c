// Stands in for cuDNN or MIOpen (STANDIN_HIP): a convolution takes 50 us.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
int standin_work(void* stream, double ns);

typedef struct {
  int type, d[4];
} tensor_t;
typedef struct {
  int pad, stride, dilation, groups, math;
} convolution_t;
typedef struct {
  void* stream;
} handle_t;

static int make(void** out, size_t bytes) {
  *out = calloc(1, bytes);
  return 0;
}
static int drop(void* object) {
  free(object);
  return 0;
}
static int set(tensor_t* tensor, int type, int a, int b, int c, int d) {
  *tensor = (tensor_t){type, {a, b, c, d}};
  return a < 1 || b < 1 || c < 1 || d < 1 ? 3 : 0;
}
static int fits(const tensor_t* x, const tensor_t* w, const convolution_t* how, const tensor_t* out) {
  const int height = (x->d[2] + 2 * how->pad - how->dilation * (w->d[2] - 1) - 1) / how->stride + 1;
  return w->d[1] * how->groups == x->d[1] && out->d[0] == x->d[0] && out->d[1] == w->d[0] && out->d[2] == height &&
         x->type == w->type;
}
#ifdef STANDIN_HIP
typedef struct {
  int algorithm;
  float time;
  size_t memory;
} best_t;
EXPORT int miopenCreateWithStream(void** handle, void* stream) {
  make(handle, sizeof(handle_t));
  ((handle_t*)*handle)->stream = stream;
  return 0;
}
EXPORT int miopenDestroy(void* handle) { return drop(handle); }
EXPORT int miopenCreateTensorDescriptor(void** out) { return make(out, sizeof(tensor_t)); }
EXPORT int miopenDestroyTensorDescriptor(void* tensor) { return drop(tensor); }
EXPORT int miopenSet4dTensorDescriptor(tensor_t* tensor, int type, int a, int b, int c, int d) {
  return set(tensor, type, a, b, c, d);
}
EXPORT int miopenCreateConvolutionDescriptor(void** out) { return make(out, sizeof(convolution_t)); }
EXPORT int miopenDestroyConvolutionDescriptor(void* how) { return drop(how); }
EXPORT int miopenInitConvolutionDescriptor(convolution_t* how, int mode, int ph, int pw, int sh, int sw, int dh, int dw) {
  *how = (convolution_t){ph, sh, dh, 1, 0};
  return mode == 0 && ph == pw && sh == sw && dh == dw ? 0 : 3;
}
EXPORT int miopenSetConvolutionGroupCount(convolution_t* how, int groups) {
  how->groups = groups;
  return 0;
}
EXPORT int miopenConvolutionForwardGetWorkSpaceSize(handle_t* handle, tensor_t* w, tensor_t* x, convolution_t* how, tensor_t* out,
                                                    size_t* bytes) {
  (void)handle;
  *bytes = 1 << 20;
  return fits(x, w, how, out) ? 0 : 3;
}
EXPORT int miopenFindConvolutionForwardAlgorithm(handle_t* handle, tensor_t* x, uint64_t xd, tensor_t* w, uint64_t wd,
                                                 convolution_t* how, tensor_t* out, uint64_t od, int asked, int* found,
                                                 best_t* best, uint64_t workspace, size_t bytes, _Bool exhaustive) {
  (void)handle, (void)exhaustive, (void)bytes;
  *found = asked;
  *best = (best_t){3, 0.05F, 1 << 20};
  return xd && wd && od && workspace && fits(x, w, how, out) ? 0 : 3;
}
EXPORT int miopenConvolutionForward(handle_t* handle, const void* one, tensor_t* x, uint64_t xd, tensor_t* w, uint64_t wd,
                                    convolution_t* how, int algorithm, const void* zero, tensor_t* out, uint64_t od,
                                    uint64_t workspace, size_t bytes) {
  (void)one, (void)zero, (void)workspace;
  if (!xd || !wd || !od || algorithm != 3 || bytes < (1 << 20) || !fits(x, w, how, out)) return 3;
  return standin_work(handle->stream, 50000);
}
#else
typedef struct {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
} best_t;
EXPORT int cudnnCreate(void** handle) { return make(handle, sizeof(handle_t)); }
EXPORT int cudnnDestroy(void* handle) { return drop(handle); }
EXPORT int cudnnSetStream(handle_t* handle, void* stream) {
  handle->stream = stream;
  return 0;
}
EXPORT int cudnnCreateTensorDescriptor(void** out) { return make(out, sizeof(tensor_t)); }
EXPORT int cudnnDestroyTensorDescriptor(void* tensor) { return drop(tensor); }
EXPORT int cudnnSetTensor4dDescriptor(tensor_t* tensor, int format, int type, int a, int b, int c, int d) {
  return format == 0 ? set(tensor, type, a, b, c, d) : 3;
}
EXPORT int cudnnCreateFilterDescriptor(void** out) { return make(out, sizeof(tensor_t)); }
EXPORT int cudnnDestroyFilterDescriptor(void* tensor) { return drop(tensor); }
EXPORT int cudnnSetFilter4dDescriptor(tensor_t* tensor, int type, int format, int a, int b, int c, int d) {
  return format == 0 ? set(tensor, type, a, b, c, d) : 3;
}
EXPORT int cudnnCreateConvolutionDescriptor(void** out) { return make(out, sizeof(convolution_t)); }
EXPORT int cudnnDestroyConvolutionDescriptor(void* how) { return drop(how); }
EXPORT int cudnnSetConvolution2dDescriptor(convolution_t* how, int ph, int pw, int sh, int sw, int dh, int dw, int mode,
                                           int type) {
  *how = (convolution_t){ph, sh, dh, 1, 0};
  return mode == 1 && type == 0 && ph == pw && sh == sw && dh == dw ? 0 : 3;
}
EXPORT int cudnnSetConvolutionGroupCount(convolution_t* how, int groups) {
  how->groups = groups;
  return 0;
}
EXPORT int cudnnSetConvolutionMathType(convolution_t* how, int math) {
  how->math = math;
  return math >= 0 && math <= 3 ? 0 : 3;
}
// The first fails, as one may that needs more memory than there is.
EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(handle_t* handle, tensor_t* x, tensor_t* w, convolution_t* how, tensor_t* out,
                                                  int asked, int* found, best_t* best) {
  (void)handle;
  *found = asked < 2 ? asked : 2;
  if (asked > 0) best[0] = (best_t){6, 4, -1, 0, 0, 0, {0, 0, 0}};
  if (asked > 1) best[1] = (best_t){1, 0, 0.05F, 1 << 20, 1, how->math, {0, 0, 0}};
  return fits(x, w, how, out) ? 0 : 3;
}
EXPORT int cudnnGetConvolutionForwardWorkspaceSize(handle_t* handle, tensor_t* x, tensor_t* w, convolution_t* how, tensor_t* out,
                                                   int algorithm, size_t* bytes) {
  (void)handle, (void)algorithm;
  *bytes = 1 << 20;
  return fits(x, w, how, out) ? 0 : 3;
}
EXPORT int cudnnConvolutionForward(handle_t* handle, const void* one, tensor_t* x, uint64_t xd, tensor_t* w, uint64_t wd,
                                   convolution_t* how, int algorithm, uint64_t workspace, size_t bytes, const void* zero,
                                   tensor_t* out, uint64_t od) {
  (void)one, (void)zero;
  if (!xd || !wd || !od || !workspace || algorithm != 1 || bytes < (1 << 20) || !fits(x, w, how, out)) return 3;
  return standin_work(handle->stream, 50000);
}
#endif

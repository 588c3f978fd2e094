// A library with the interface of cuBLASLt that multiplies on this machine.
#pragma once

namespace lumen::tests {

// Matrices of f32 with their neighbours in columns. An algorithm leaves its number in the workspace; one for floats of
// 8 bits only what it was asked: the types, what the scales are, and the constant.
inline constexpr const char* kFakeMatrices = R"C(
#include <stdint.h>
#include <stdlib.h>
struct layout { int type; uint64_t rows, columns; int64_t pitch; int32_t batch; int64_t step; };
struct descriptor { int compute, scale; int32_t transposed[2]; const float* scales[2]; };
struct preference { size_t workspace; uint32_t alignment[4]; };
struct proposal { uint64_t algorithm[8]; size_t workspace; int state; float waves; int reserved[4]; };
int cublasLtCreate(void** h) { *h = malloc(1); return 0; }
int cublasLtMatmulDescCreate(struct descriptor** d, int compute, int scale) {
  *d = calloc(1, sizeof **d); (*d)->compute = compute; (*d)->scale = scale; return 0;
}
int cublasLtMatmulDescDestroy(void* d) { free(d); return 0; }
int cublasLtMatmulDescSetAttribute(struct descriptor* d, int which, const int32_t* value, size_t size) {
  if (size == 8 && (which == 17 || which == 18)) { d->scales[which - 17] = *(const float**)value; return 0; }
  if (size != 4 || which < 3 || which > 4) return 7;
  d->transposed[which - 3] = *value; return 0;
}
int cublasLtMatrixLayoutCreate(struct layout** l, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
  if (pitch < (int64_t)rows) return 7;
  *l = calloc(1, sizeof **l); **l = (struct layout){type, rows, columns, pitch, 1, 0}; return 0;
}
int cublasLtMatrixLayoutDestroy(void* l) { free(l); return 0; }
int cublasLtMatrixLayoutSetAttribute(struct layout* l, int which, const void* value, size_t size) {
  if (which == 5 && size == 4) { l->batch = *(const int32_t*)value; return 0; }
  if (which == 6 && size == 8) { l->step = *(const int64_t*)value; return 0; }
  return 7;
}
int cublasLtMatmulPreferenceCreate(struct preference** p) { *p = calloc(1, sizeof **p); return 0; }
int cublasLtMatmulPreferenceDestroy(void* p) { free(p); return 0; }
int cublasLtMatmulPreferenceSetAttribute(struct preference* p, int which, const void* value, size_t size) {
  if (which == 1 && size == 8) { p->workspace = *(const size_t*)value; return 0; }
  if (which >= 5 && which <= 8 && size == 4) { p->alignment[which - 5] = *(const uint32_t*)value; return 0; }
  return 7;
}
int cublasLtMatmulAlgoGetHeuristic(void* h, struct descriptor* d, struct layout* a, struct layout* b, struct layout* c,
                                   struct layout* r, struct preference* p, int wanted, struct proposal* out, int* found) {
  // Floats of 8 bits: the sum along lines of 16, and not both e5m2.
  int bytes = a->type >= 28 && b->type >= 28 && a->type + b->type < 58 && d->transposed[0] && !d->transposed[1] &&
              !(a->rows % 16 || a->columns % 16 || a->pitch % 16 || b->pitch % 16) && (r->type == 0 || r->type == 14);
  if (d->compute != 68 || d->scale != 0 || p->workspace < 64 ||
      !(bytes || (a->type == 0 && b->type == 0 && r->type == 0))) { *found = 0; return 0; }
  *found = 2;
  for (int k = 0; k < 2; ++k) { out[k].algorithm[0] = 100 * p->alignment[0] + k; out[k].workspace = 64; }
  for (int k = 0; k < 2; ++k) out[k].algorithm[1] = (d->scales[0] != 0) + (d->scales[1] != 0);
  return 0;
}
int cublasLtMatmul(void* h, struct descriptor* d, const float* alpha, const float* a, struct layout* al, const float* b,
                   struct layout* bl, const float* beta, const float* c, struct layout* cl, float* r, struct layout* rl,
                   const uint64_t* algorithm, uint64_t* workspace, size_t bytes, void* stream) {
  if ((*alpha != 1 && !al->type) || *beta != 0 || bytes < 64) return 7;
  if (algorithm[1] != (d->scales[0] != 0) + (d->scales[1] != 0)) return 7;  // made for others
  *workspace = al->type ? 10000 * al->type + 100 * bl->type + rl->type : *algorithm;
  float* given = (float*)(workspace + 1);
  for (int k = 0; k < 2; ++k) given[k] = d->scales[k] ? *d->scales[k] : 0;
  given[2] = *alpha;
  if (al->type) return 0;
  uint64_t depth = d->transposed[0] ? al->rows : al->columns;
  for (int t = 0; t < rl->batch; ++t)
    for (uint64_t m = 0; m < rl->rows; ++m)
      for (uint64_t n = 0; n < rl->columns; ++n) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; ++k)
          sum += (double)a[t * al->step + (d->transposed[0] ? m * al->pitch + k : k * al->pitch + m)] *
                 b[t * bl->step + (d->transposed[1] ? k * bl->pitch + n : n * bl->pitch + k)];
        r[t * rl->step + n * rl->pitch + m] = (float)sum;
      }
  return 0;
}
)C";

}  // namespace lumen::tests
